#pragma once

#include "core/backoff.hpp"
#include "redis/acquisition.hpp"
#include "redis/claim/claim_table.hpp"
#include "redis/cleanup.hpp"
#include "redis/dialect/dialect.hpp"
#include "redis/expiry_watch.hpp"
#include "redis/inspection/inspection.hpp"
#include "redis/last_requests.hpp"
#include "redis/node_observer.hpp"
#include "redis/pool/node_pool.hpp"
#include "redis/queue/batons.hpp"
#include "redis/queue/fair_queue.hpp"
#include "redis/queue/resource_hints.hpp"
#include "redis/queue/waiter_messages.hpp"
#include "redis/queue/waiter_probe.hpp"
#include "redis/redirected_claims.hpp"
#include "redis/renewals.hpp"

#include <utility>

namespace holdfast::redis {

// Everything that sends requests for the claims of a locker and reads the replies. No collaborator
// calls another: each returns an outcome, on which the life cycle acts.
struct collaborators {
    collaborators(node_pool& pool, dialect& d, core::jitter& jitter, client_settings self = {},
        std::size_t renewals_in_a_batch = renewals::default_batch)
        : nodes(pool),
          mode(d),
          rounds(claims, pool, d),
          queue(claims, pool, d, hints, jitter),
          messages(claims),
          deletions(claims, pool, d, hints),
          given(claims, pool, d, hints),
          probe(claims, pool, d.common()),
          kept(claims, pool, d, renewals_in_a_batch),
          watch(pool, d),
          observer(pool),
          redirected(claims),
          people(pool, d.names(), std::move(self)),
          last(deletions, given, people)
    {}

    node_pool& nodes;
    dialect& mode;
    claim_table claims;
    resource_hints hints;
    acquisition rounds;
    fair_queue queue;
    waiter_messages messages;
    cleanup deletions;
    batons given;
    waiter_probe probe;
    renewals kept;
    expiry_watch watch;
    node_observer observer;
    redirected_claims redirected; // in a cluster
    inspection people;
    last_requests last;
};

} // namespace holdfast::redis

#pragma once

#include "core/backoff.hpp"
#include "redis/acquisition.hpp"
#include "redis/claim/claim_table.hpp"
#include "redis/cleanup.hpp"
#include "redis/dialect/dialect.hpp"
#include "redis/expiry_watch.hpp"
#include "redis/pool/node_pool.hpp"
#include "redis/queue/fair_queue.hpp"
#include "redis/queue/resource_hints.hpp"
#include "redis/queue/waiter_probe.hpp"
#include "redis/renewals.hpp"

namespace holdfast::redis {

// Everything that sends requests for the claims of a locker and reads the replies. No collaborator
// calls another: each returns an outcome, on which the life cycle acts.
struct collaborators {
    collaborators(node_pool& pool, dialect& d, core::jitter& jitter) noexcept
        : nodes(pool),
          mode(d),
          rounds(claims, pool, d),
          queue(claims, pool, d, hints, jitter),
          deletions(claims, pool, d, hints),
          probe(claims, pool, d.common()),
          kept(claims, pool, d),
          watch(pool, d)
    {}

    node_pool& nodes;
    dialect& mode;
    claim_table claims;
    resource_hints hints;
    acquisition rounds;
    fair_queue queue;
    cleanup deletions;
    waiter_probe probe;
    renewals kept;
    expiry_watch watch;
};

} // namespace holdfast::redis

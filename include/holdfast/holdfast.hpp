#pragma once

/// The whole library, but for what has libraries of its own: `tls.hpp`, `etcd.hpp`,
/// `zookeeper.hpp`, `postgresql.hpp` and `mysql.hpp`. Recommended reading order:

#include <holdfast/error.hpp>
#include <holdfast/options.hpp>
#include <holdfast/resource.hpp>

#include <holdfast/inspect.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/locker.hpp>
#include <holdfast/stats.hpp>

#include <holdfast/events.hpp>
#include <holdfast/histogram.hpp>
#include <holdfast/metrics.hpp>
#include <holdfast/tracing.hpp>

#include <holdfast/backend.hpp>
#include <holdfast/endpoint.hpp>
#include <holdfast/memory.hpp>
#include <holdfast/redis.hpp>
#include <holdfast/redlock.hpp>

#include <holdfast/guarded_write.hpp>

#include <holdfast/batch.hpp>
#include <holdfast/election.hpp>
#include <holdfast/multi_lock.hpp>
#include <holdfast/read_write_lock.hpp>
#include <holdfast/semaphore.hpp>

#include <holdfast/version.hpp>

#pragma once

/// The whole library. Recommended reading order:

#include <holdfast/error.hpp>
#include <holdfast/options.hpp>
#include <holdfast/resource.hpp>

#include <holdfast/lease.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/locker.hpp>
#include <holdfast/stats.hpp>

#include <holdfast/backend.hpp>
#include <holdfast/endpoint.hpp>
#include <holdfast/memory.hpp>
#include <holdfast/redlock.hpp>

#include <holdfast/guarded_write.hpp>

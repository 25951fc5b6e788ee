#pragma once

#include <holdfast/lock.hpp>
#include <holdfast/locker.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/strand.hpp>

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::io {

// Makes the locks of a recipe, whose names users cannot use for locks of their own.
struct recipe_access {
    static lock make(locker& owner, const std::string& name, const lock_options& options)
    {
        return lock(owner, resource(name), options, lock::for_recipe());
    }
    // As `lock::try_acquire()`, but it waits for a place for so long at most.
    template <class Handler>
    static void try_acquire(const lock& which, std::chrono::milliseconds longest, Handler&& handler)
    {
        which.initiate(std::min(longest, which.options().wait), lock::mode::once, nullptr, handler);
    }
    // Whether the locker grants leases: no draining or closing has begun.
    static bool grants(const lock& any) noexcept;
};

// Throws if the option is on.
inline void must_be_off(const char* what, const char* option, std::chrono::milliseconds value)
{
    if (value > std::chrono::milliseconds(0))
        throw std::invalid_argument("holdfast: lock_options::" + std::string(option) + " is " +
                                    std::to_string(value.count()) + " ms; it must be 0 for a " +
                                    std::string(what));
}

// Throws if the name is too long to add the ending of a recipe's lock, or if the locks would stay
// locked although they were given back: recipes give back what they do not need, and look which of
// their locks are free.
inline void check_recipe(
    const char* what, const std::string& name, std::size_t most, const lock_options& options)
{
    must_be_off(what, "min_hold", options.min_hold);
    must_be_off(what, "linger", options.linger);
    if (name.size() > most)
        throw std::invalid_argument("holdfast: the name of a " + std::string(what) + " has " +
                                    std::to_string(name.size()) + " bytes; at most " +
                                    std::to_string(most) + " are allowed");
}

// "stock:3:holdfast:permit"
inline std::string slot_name(const std::string& name, std::size_t slot, const char* ending)
{
    return name + ":" + std::to_string(slot) + ":holdfast:" + ending;
}

// The locks that an errand knows by their numbers, and the strand that the errands of one object
// share.
struct recipe_locks {
    asio::strand<asio::any_io_executor> strand;
    std::vector<lock> locks;
};

} // namespace holdfast::io

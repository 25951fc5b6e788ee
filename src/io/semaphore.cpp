#include <holdfast/semaphore.hpp>

#include "io/entropy.hpp"
#include "io/errand_performer.hpp"
#include "io/recipe_locks.hpp"
#include "recipes/slot_search.hpp"

#include <boost/asio/strand.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <utility>

namespace holdfast {

namespace io {

struct semaphore_state : recipe_locks {
    semaphore_state(
        locker& owner, std::string given, std::size_t permits, const lock_options& options)
        : recipe_locks{asio::make_strand(owner.get_executor()), {}},
          name(std::move(given)),
          board(permits),
          random(os_entropy().seed())
    {
        for (std::size_t i = 0; i < permits; ++i)
            locks.push_back(recipe_access::make(owner, slot_name(name, i, "permit"), options));
    }

    const std::string name;
    recipes::slot_board board; // used on the strand
    // A number for each call, in any thread.
    std::atomic<std::uint64_t> random;
};

} // namespace io

namespace {

std::size_t checked_permits(std::size_t permits)
{
    if (permits == 0 || permits > semaphore::most_permits)
        throw std::invalid_argument("holdfast: a semaphore with " + std::to_string(permits) +
                                    " permits; it must be 1 to " +
                                    std::to_string(semaphore::most_permits));
    return permits;
}

} // namespace

semaphore::semaphore(locker& owner, resource name, std::size_t permits, lock_options options)
{
    io::check_recipe("semaphore", name.name(), max_name_size, options);
    state_ = std::make_shared<io::semaphore_state>(
        owner, name.name(), checked_permits(permits), options);
}

const std::string& semaphore::name() const noexcept
{
    return state_->name;
}

std::size_t semaphore::permits() const noexcept
{
    return state_->locks.size();
}

const lock_options& semaphore::options() const noexcept
{
    return state_->locks.front().options();
}

std::string semaphore::explain(const error_code& why) const
{
    return "a semaphore of " + std::to_string(permits()) +
           " permits; its first slot: " + state_->locks.front().explain(why);
}

asio::any_io_executor semaphore::get_executor() const noexcept
{
    return state_->locks.front().get_executor();
}

void semaphore::start_acquire(std::shared_ptr<io::semaphore_state> state,
    std::chrono::milliseconds wait, bool once, acquire_handler&& handler)
{
    core::jitter random(state->random.fetch_add(1));
    auto search = std::make_unique<recipes::slot_search>(state->board, io::patience_of(wait, once),
        state->locks.front().options().ttl / 8, random.next());
    io::lease_errand::start(std::move(state), std::move(search), std::move(handler));
}

} // namespace holdfast

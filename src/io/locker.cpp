#include <holdfast/lease.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/locker.hpp>

#include "core/params.hpp"
#include "io/clock.hpp"
#include "io/engine.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {

namespace {

lock_options checked(lock_options options)
{
    check(options);
    return options;
}

locker_options checked(locker_options options)
{
    check(options);
    return options;
}

// An answer at the end of a node's timeout must still be able to give a lease. And no lease may
// last longer than the quarantine of a node that may have forgotten it.
core::lease_params checked(const core::lease_params& terms, const io::engine& engine)
{
    const auto in_ms = [](core::duration d) {
        return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(d).count()) + " ms";
    };
    if (terms.ttl > engine.store().about().longest_ttl)
        throw std::invalid_argument("holdfast: ttl is " + in_ms(terms.ttl) +
                                    "; it must not be longer than the backend's quarantine "
                                    "(fencing_options), which is " +
                                    in_ms(engine.store().about().longest_ttl));
    const core::duration node_timeout = engine.store().patience(terms.ttl);
    if (terms.ttl <= terms.drift + node_timeout)
        throw std::invalid_argument("holdfast: ttl is " + in_ms(terms.ttl) +
                                    "; it must be longer than drift and the backend's "
                                    "node_timeout together, which are " +
                                    in_ms(terms.drift + node_timeout));
    return terms;
}

// Recipes make these names of locks from the names that users give to them.
holdfast::resource unreserved(holdfast::resource what)
{
    for (const std::string_view ending : {":holdfast:permit", ":holdfast:reader", ":holdfast:gate"})
        if (what.name().ends_with(ending))
            throw std::invalid_argument("holdfast: the name of a lock must not end in \"" +
                                        std::string(ending) +
                                        "\": such names are reserved for the locks of recipes");
    return what;
}

} // namespace

const asio::any_io_executor& detail::usual_executor(const io::engine& engine) noexcept
{
    return engine.executor();
}

locker::locker(asio::any_io_executor executor, backend store, locker_options options)
    : engine_(io::engine::make(std::move(executor), store, checked(options)))
{}

locker::~locker()
{
    if (engine_)
        engine_->close();
}

locker& locker::operator=(locker&& other) noexcept
{
    if (engine_ && engine_ != other.engine_)
        engine_->close();
    engine_ = std::move(other.engine_);
    return *this;
}

locker::executor_type locker::get_executor() const noexcept
{
    return engine_->executor();
}

locker_stats locker::stats() const
{
    return engine_->stats();
}

void locker::start_drain(
    std::shared_ptr<io::engine> engine, std::chrono::milliseconds deadline, close_handler&& handler)
{
    engine->drain(deadline, std::move(handler));
}

void locker::start_close(std::shared_ptr<io::engine> engine, close_handler&& handler)
{
    engine->close(std::move(handler));
}

void locker::start_inspect(
    std::shared_ptr<io::engine> engine, resource what, inspect_handler&& handler)
{
    engine->inspect(std::make_unique<io::inspect_operation>(
                        io::operation_kind::inspect, 0, std::move(handler), resource_report()),
        core::inspection_task::inspect, what.name());
}

void locker::start_list(
    std::shared_ptr<io::engine> engine, std::string prefix, list_handler&& handler)
{
    engine->inspect(std::make_unique<io::list_operation>(
                        io::operation_kind::list, 0, std::move(handler), lock_list()),
        core::inspection_task::list, prefix);
}

void locker::start_force_release(
    std::shared_ptr<io::engine> engine, resource what, force_handler&& handler)
{
    engine->inspect(std::make_unique<io::force_operation>(
                        io::operation_kind::force_release, 0, std::move(handler), forced_release()),
        core::inspection_task::force_release, what.name());
}

lock::lock(locker& owner, holdfast::resource what, lock_options options)
    : lock(owner, unreserved(std::move(what)), options, for_recipe())
{}

lock::lock(locker& owner, holdfast::resource what, lock_options options, for_recipe)
    : engine_(owner.engine_),
      terms_(std::make_shared<const io::lock_terms>(
          io::lock_terms{std::make_shared<const holdfast::resource>(std::move(what)),
              checked(options), checked(core::terms_of(options), *engine_)}))
{}

const std::string& lock::resource() const noexcept
{
    return terms_->what->name();
}

const lock_options& lock::options() const noexcept
{
    return terms_->options;
}

std::string lock::explain(const error_code& why) const
{
    return engine_->explain(terms_->what->name(), why);
}

asio::any_io_executor lock::get_executor() const noexcept
{
    return engine_->executor();
}

std::shared_ptr<trace_span> lock::begin_span() const
{
    return engine_->begin_span(terms_->what->name());
}

void lock::start_acquire(std::shared_ptr<io::engine> engine,
    std::shared_ptr<const io::lock_terms> terms, std::chrono::milliseconds wait, mode how,
    std::shared_ptr<trace_span> span, acquire_handler&& handler)
{
    if (how != mode::hold)
        span = engine->begin_span(terms->what->name());
    engine->acquire(std::move(terms), wait, how == mode::once, std::move(span), std::move(handler));
}

lease::lease(std::shared_ptr<io::engine> engine, std::uint64_t id,
    std::shared_ptr<const holdfast::resource> what, std::optional<std::uint64_t> fence) noexcept
    : engine_(std::move(engine)),
      what_(std::move(what)),
      fence_(fence),
      id_(id)
{}

lease::lease(lease&& other) noexcept
    : engine_(std::move(other.engine_)),
      what_(std::move(other.what_)),
      fence_(std::exchange(other.fence_, std::nullopt)),
      id_(std::exchange(other.id_, 0))
{}

lease& lease::operator=(lease&& other) noexcept
{
    if (this != &other) {
        drop();
        engine_ = std::move(other.engine_);
        what_ = std::move(other.what_);
        fence_ = std::exchange(other.fence_, std::nullopt);
        id_ = std::exchange(other.id_, 0);
    }
    return *this;
}

lease::~lease()
{
    drop();
}

void lease::drop() noexcept
{
    if (engine_ && id_ != 0)
        engine_->drop(std::exchange(id_, 0));
}

lease::operator bool() const noexcept
{
    return engine_ && engine_->ask([id = id_](const core::held_leases& leases, bool ours) {
        return ours && leases.alive(id);
    });
}

bool lease::held() const noexcept
{
    return engine_ && engine_->ask([id = id_](const core::held_leases& leases, bool ours) {
        return ours && leases.held(id, io::now());
    });
}

std::chrono::steady_clock::time_point lease::valid_until() const noexcept
{
    if (!engine_)
        return std::chrono::steady_clock::time_point::min();
    return io::to_steady(engine_->ask([id = id_](const core::held_leases& leases, bool ours) {
        return ours ? leases.valid_until(id) : core::long_ago;
    }));
}

const std::string& lease::resource() const noexcept
{
    static const std::string none;
    return what_ ? what_->name() : none;
}

void lease::start_lost(
    std::shared_ptr<io::engine> engine, std::uint64_t id, error_handler&& handler)
{
    engine->wait_lost(id, std::move(handler));
}

void lease::start_extend(
    std::shared_ptr<io::engine> engine, std::uint64_t id, error_handler&& handler)
{
    engine->extend(id, std::move(handler));
}

void lease::start_release(
    std::shared_ptr<io::engine> engine, std::uint64_t id, release_handler&& handler)
{
    engine->release(id, std::move(handler));
}

} // namespace holdfast

#include <holdfast/election.hpp>

#include "io/campaigner.hpp"
#include "io/entropy.hpp"

#include <boost/asio/post.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace holdfast {

namespace {

using std::chrono::milliseconds;

void require(bool good, const char* setting, milliseconds value, const char* range)
{
    if (!good)
        throw std::invalid_argument("holdfast: election_options::" + std::string(setting) + " is " +
                                    std::to_string(value.count()) + " ms; it must be " + range);
}

election_options checked(election_options options)
{
    check(options);
    return options;
}

} // namespace

void check(const election_options& o)
{
    using namespace std::chrono_literals;
    const auto in_range = [](milliseconds m) {
        return m >= 1ms && m <= 1h;
    };
    const char* const range = "1 ms to 1 h";
    require(in_range(o.check_every), "check_every", o.check_every, range);
    require(in_range(o.pause_min), "pause_min", o.pause_min, range);
    require(in_range(o.pause_max), "pause_max", o.pause_max, range);
    require(o.pause_min <= o.pause_max, "pause_min", o.pause_min, "at most pause_max");
}

election::election(lock office, election_options options)
    : state_(std::make_shared<io::election_state>(std::move(office), checked(std::move(options))))
{}

const lock& election::office() const noexcept
{
    return state_->office;
}

void election::resign() const
{
    state_->resign();
}

void election::start_run(std::shared_ptr<io::election_state> state,
    const asio::any_io_executor& where, run_body body, run_handler&& handler)
{
    auto slot = asio::get_associated_cancellation_slot(handler.function);
    const auto run = std::make_shared<io::campaigner>(
        state, where, std::move(body), std::move(handler), io::os_entropy().seed());
    state->add(run);
    if (slot.is_connected()) // it may outlive the context: it must not own the strand
        slot.assign([weak = std::weak_ptr(run)](asio::cancellation_type) {
            if (const auto alive = weak.lock())
                asio::post(alive->strand(), [alive] { alive->cancel(); });
        });
    asio::post(run->strand(), [run] { run->begin(); });
}

void election::start_observe(std::shared_ptr<io::election_state> state, observe_handler&& handler)
{
    const lock& office = state->office;
    locker::start_inspect(
        office.engine_, holdfast::resource(office.resource()), std::move(handler));
}

} // namespace holdfast

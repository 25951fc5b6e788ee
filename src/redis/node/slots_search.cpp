#include "redis/node/slots_search.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

slots_search::slots_search(std::vector<core::address> seeds, const node_settings& settings,
    slots_search_owner& owner, std::uint64_t jitter_seed)
    : settings_(settings),
      owner_(owner),
      jitter_(jitter_seed),
      query_(settings_, static_cast<slots_query_owner&>(*this)),
      members_(std::move(seeds))
{}

void slots_search::want(core::time_point now) noexcept
{
    if (phase_ != phase::idle)
        return;
    // No search has been wanted for long: something has happened just now.
    if (now > not_before_ + settings_.reconnect_max)
        fruitless_ = 0;
    phase_ = phase::wanted;
    wake_at_ = std::max(now, not_before_);
}

void slots_search::wake(core::time_point now)
{
    if (now < wake_at_)
        return;
    wake_at_ = core::never;
    switch (phase_) {
    case phase::wanted:
        return begin(now);
    case phase::asking:
        query_.stop();
        phase_ = phase::between; // closed() will follow
        return members_.failed({errc::no_reply,
            settings_.tls ? "no answer in time; does the port speak TLS?" : "no answer in time"});
    case phase::between:
        return ask(now);
    case phase::idle:
    case phase::shut:
        return;
    }
}

void slots_search::begin(core::time_point now)
{
    members_.begin(table_);
    ask(now);
}

void slots_search::ask(core::time_point now)
{
    phase_ = phase::between;
    if (!query_.is_free())
        return; // closed() will follow
    const core::address* const member = members_.next();
    if (member == nullptr) {
        why_not_ = members_.why_not();
        end(false, now);
        return owner_.on_no_table(now);
    }
    phase_ = phase::asking;
    wake_at_ = now + settings_.connect_timeout;
    query_.ask(*member, wake_at_);
}

void slots_search::on_slots(reply answer, core::time_point now)
{
    wake_at_ = core::never;
    phase_ = phase::between;
    if (!read_.read(answer, query_.target().host))
        return members_.failed({errc::protocol_error, "its answer is no table of slots"});
    const bool changed = !has_table_ || !(read_ == table_);
    std::swap(table_, read_);
    has_table_ = true;
    members_.answered();
    why_not_ = {};
    end(changed, now);
    owner_.on_table(now);
}

void slots_search::on_no_slots(failure why, core::time_point now)
{
    if (phase_ != phase::asking && phase_ != phase::between)
        return;
    if (why.code)
        members_.failed(why);
    phase_ = phase::between;
    wake_at_ = now; // if the stream is closed
}

void slots_search::end(bool found_anything_new, core::time_point now) noexcept
{
    fruitless_ = found_anything_new ? 0 : fruitless_ + 1;
    phase_ = phase::idle;
    // Also after a success: what was wanted may not be known to the members yet.
    not_before_ =
        now + settings_.reconnect_min / 2 +
        core::backoff(fruitless_, settings_.reconnect_min, settings_.reconnect_max, jitter_);
}

void slots_search::shut() noexcept
{
    query_.stop();
    phase_ = phase::shut;
    wake_at_ = core::never;
}

} // namespace holdfast::redis

#include "io/observers.hpp"

#include <boost/asio/error.hpp>

#include <string>
#include <utility>

namespace holdfast::io {

namespace {

// The instants of other clocks at which something happened.
class translation {
public:
    trace_time operator()(core::time_point at) const noexcept
    {
        const core::duration ago = now_ - at;
        return {std::chrono::time_point_cast<std::chrono::system_clock::duration>(system_ - ago),
            std::chrono::time_point_cast<std::chrono::steady_clock::duration>(steady_ - ago)};
    }

private:
    core::time_point now_ = io::now();
    std::chrono::system_clock::time_point system_ = std::chrono::system_clock::now();
    std::chrono::steady_clock::time_point steady_ = std::chrono::steady_clock::now();
};

// There is one for each operation; the others are what a person looks for first.
outbox::kind kind_of(event::type what) noexcept
{
    switch (what) {
    case event::type::acquired:
    case event::type::released:
    case event::type::wait_failed:
        return outbox::kind::frequent;
    default:
        return outbox::kind::rare;
    }
}

} // namespace

observers::observers(const asio::any_io_executor& executor, const locker_options& options)
    : on_event_(options.on_event ? std::make_shared<const callback>(options.on_event) : nullptr),
      calls_(on_event_ != nullptr || options.tracer != nullptr ? std::make_shared<outbox>(executor)
                                                               : nullptr),
      spans_(calls_)
{}

void observers::tell(core::journal& notes, const core::store_nodes& nodes)
{
    const translation when;
    while (auto noted = notes.next_event()) {
        noted->what.time = when(noted->at).system;
        const auto kind = kind_of(noted->what.kind);
        calls_->add([to = on_event_, what = std::move(noted->what)] { (*to)(what); }, kind);
    }
    while (const auto mark = notes.next_mark()) {
        std::string node;
        if (mark->kind == core::trace_mark::step::vote)
            node = nodes.name(mark->node); // with sentinels, changes at a fail-over
        spans_.follow(*mark, when(mark->at), std::move(node));
    }
}

void observers::begin(std::uint64_t wait, std::shared_ptr<trace_span> span)
{
    spans_.begin(wait, std::move(span));
}

void observers::cancelled(std::uint64_t wait, core::time_point now)
{
    if (calls_ != nullptr)
        spans_.fail(wait, asio::error::operation_aborted, translation()(now));
}

std::chrono::steady_clock::time_point observers::to_steady(core::time_point when) noexcept
{
    const clocks both = read_clocks();
    suspensions_.look(both);
    return io::to_steady(when, both);
}

void observers::add_to(locker_stats& stats) const
{
    stats.suspensions = suspensions_.count();
    stats.events_dropped = calls_ != nullptr ? calls_->dropped() : 0;
}

observers::remains observers::stop() noexcept
{
    remains all;
    if (calls_ != nullptr)
        all.calls = calls_->stop();
    all.on_event = std::move(on_event_);
    all.spans = spans_.clear();
    return all;
}

} // namespace holdfast::io

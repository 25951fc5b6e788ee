#pragma once

#include <holdfast/tracing.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// A tracer that keeps what it is told, as a user's tracer would export it. Thread-safe.
class recording_tracer final : public tracer {
public:
    struct record {
        std::string name, resource, parent;
        std::vector<std::string> events; ///< "vote 127.0.0.1:7001: contended"
        std::vector<trace_time> times;   ///< of the events
        error_code outcome;
        std::optional<std::uint64_t> fence;
        trace_time began, ended;
    };

    /// The span that is current on a thread, as a tracing system knows it.
    static inline thread_local std::string current;

    std::shared_ptr<trace_span> begin_acquire(std::string_view resource) noexcept override
    {
        const std::lock_guard lock(mutex_);
        const auto made = std::make_shared<span>(*this);
        made->seen.name = "acquire";
        made->seen.resource = resource;
        made->seen.parent = current;
        ++open_;
        return made;
    }

    /// The spans that are over, in the order of their ends.
    std::vector<record> over() const
    {
        const std::lock_guard lock(mutex_);
        return over_;
    }
    /// The spans that exist.
    std::size_t open() const
    {
        const std::lock_guard lock(mutex_);
        return open_;
    }

private:
    struct span final : trace_span {
        explicit span(recording_tracer& o) : owner(o) {}
        ~span() override
        {
            const std::lock_guard lock(owner.mutex_);
            --owner.open_;
        }

        void add(const trace_event& what) noexcept override
        {
            std::string text(what.name);
            if (!what.node.empty())
                text += " " + std::string(what.node);
            if (what.error)
                text += ": " + what.error.message();
            seen.events.push_back(text);
            seen.times.push_back(what.time);
        }
        std::shared_ptr<trace_span> begin_hold(
            std::optional<std::uint64_t> fence, const trace_time& time) noexcept override
        {
            const std::lock_guard lock(owner.mutex_);
            const auto made = std::make_shared<span>(owner);
            made->seen.name = "hold";
            made->seen.resource = seen.resource;
            made->seen.parent = seen.parent;
            made->seen.fence = fence;
            made->seen.began = time;
            ++owner.open_;
            return made;
        }
        void end(error_code outcome, const trace_time& time) noexcept override
        {
            const std::lock_guard lock(owner.mutex_);
            seen.outcome = outcome;
            seen.ended = time;
            owner.over_.push_back(seen);
        }

        recording_tracer& owner;
        record seen;
    };

    mutable std::mutex mutex_;
    std::vector<record> over_;
    std::size_t open_ = 0;
};

} // namespace holdfast::test

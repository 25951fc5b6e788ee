#pragma once

#include "core/journal.hpp"
#include "core/slot_map.hpp"
#include "core/time.hpp"
#include "io/outbox.hpp"

#include <holdfast/tracing.hpp>

#include <boost/system/error_code.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace holdfast::io {

// Relates the steps of a locker to the spans of its users. The spans are called later, by an
// outbox: all of an acquire at its end. Not thread-safe.
class trace_book {
public:
    explicit trace_book(std::shared_ptr<outbox> calls) : calls_(std::move(calls)) {}

    // Of an acquire, so many of the first and of the last steps are kept. It may wait for ever.
    static constexpr std::size_t most = 64;

    void begin(std::uint64_t wait, std::shared_ptr<trace_span> span);
    // `time`: of the step. `node`: of a vote: the address.
    void follow(const core::trace_mark& mark, const trace_time& time, std::string node);
    // An acquire has ended without a lease. Does nothing if it has no span.
    void fail(std::uint64_t wait, error_code why, const trace_time& time);

    // Forgets all spans, without their ends, and returns what is to be destroyed.
    std::vector<std::shared_ptr<void>> clear() noexcept;

private:
    struct step {
        const char* name;
        trace_time time;
        std::string node;
        error_code error;
    };
    struct acquire {
        std::shared_ptr<trace_span> span;
        std::vector<step> first;
        std::vector<step> last; // a ring, once it is full: `omitted` counts round it
        std::size_t omitted = 0;
        trace_time omitted_until{};

        void add(step s);
        void tell() const;
    };
    // Its span is made by the outbox.
    struct hold {
        std::shared_ptr<trace_span> span;
    };

    void add(core::slot_id claim, step s);
    void grant(const core::trace_mark& mark, const trace_time& time);

    std::shared_ptr<outbox> calls_;
    std::unordered_map<std::uint64_t, acquire> acquires_;       // by the tag of the wait
    std::unordered_map<core::slot_id, std::uint64_t> attempts_; // the wait that each is made for
    std::unordered_map<core::slot_id, std::shared_ptr<hold>> holds_;
};

} // namespace holdfast::io

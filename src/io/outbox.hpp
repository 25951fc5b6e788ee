#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace holdfast::io {

namespace asio = boost::asio;

// Makes calls later, on an executor, in order and one at a time. A call may block or throw: then it
// delays or loses nothing but the calls behind it, which still come in order. Thread-safe.
class outbox : public std::enable_shared_from_this<outbox> {
public:
    using call = std::function<void()>;

    // Which calls are dropped first if too many wait.
    enum class kind : std::uint8_t {
        frequent,   // if `most` events wait
        rare,       // if `most + reserve` events wait
        end_of_span // never: only users' operations and leases make them, one each
    };
    static constexpr std::size_t most = 4096;
    static constexpr std::size_t reserve = 4096; // frequent events leave it to the rare ones

    struct entry {
        call make;
        bool is_event = false; // counts against the limits
    };

    explicit outbox(asio::any_io_executor executor) : executor_(std::move(executor)) {}

    // Makes no call inside this one, and destroys no end of a span: a span is the user's, and the
    // caller holds locks. An event that is dropped is destroyed at once, so it must not be the last
    // owner of anything of the user's.
    void add(call c, kind k);

    // Makes no calls any more. Returns those that wait, to be destroyed.
    std::deque<entry> stop() noexcept;

    std::uint64_t dropped() const noexcept { return dropped_; }

private:
    void schedule();
    void run();
    bool next(call& c) noexcept;

    const asio::any_io_executor executor_;
    std::mutex mutex_;
    std::deque<entry> waiting_;
    std::size_t events_ = 0; // of these
    std::vector<call> late_; // ends of spans after the stop; destroyed with the outbox
    bool scheduled_ = false; // or running
    bool stopped_ = false;
    std::atomic<std::uint64_t> dropped_ = 0;
};

} // namespace holdfast::io

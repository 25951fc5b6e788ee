// A process that works under a lock until it must stop. The tests stop and continue it:
//
//     stopped_holder <resource> <ttl in ms> <url> ...
//
// Each line has the time (nanoseconds of the monotonic clock), and then whether the lease was held.
// The last line says how the hold ended.

#include <holdfast/holdfast.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace asio = boost::asio;

namespace {

// Checks a lease repeatedly, in plain handlers of the context. After the process was stopped, such
// a handler may run before any code of the locker.
class watcher {
public:
    watcher(asio::io_context& io, const holdfast::lease& watched)
        : state_(std::make_shared<state>(io, watched))
    {
        look(state_);
    }
    watcher(const watcher&) = delete;
    watcher& operator=(const watcher&) = delete;
    ~watcher()
    {
        state_->ended = true;
        state_->timer.cancel();
    }

private:
    struct state {
        state(asio::io_context& io, const holdfast::lease& watched) : timer(io), held(watched) {}
        asio::steady_timer timer;
        const holdfast::lease& held;
        bool ended = false;
    };

    static void look(const std::shared_ptr<state>& s)
    {
        const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
        const bool is_held = s->held.held();
        std::cout << now << " " << is_held << std::endl;
        s->timer.expires_after(std::chrono::milliseconds(5));
        s->timer.async_wait([s](holdfast::error_code) {
            if (!s->ended)
                look(s);
        });
    }

    std::shared_ptr<state> state_;
};

asio::awaitable<void> work(asio::io_context& io, holdfast::lease& held)
{
    const watcher watching(io, held);
    asio::steady_timer for_ever(io, std::chrono::hours(1));
    co_await for_ever.async_wait(asio::use_awaitable);
}

void report(const std::exception_ptr& error)
{
    try {
        std::rethrow_exception(error);
    } catch (const std::exception& e) {
        std::cout << "ended: " << e.what() << std::endl;
    }
}

} // namespace

int main(int argc, char** argv)
try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const std::vector<holdfast::endpoint> nodes(words.begin() + 2, words.end());
    holdfast::lock_options options;
    options.ttl = std::chrono::milliseconds(std::stoi(words.at(1)));

    asio::io_context io;
    holdfast::locker locker(io.get_executor(), holdfast::redlock(nodes));
    const holdfast::lock lock(locker, words.at(0), options);
    auto body = [&io](holdfast::lease& held) {
        return work(io, held);
    };
    lock.hold(body, [&](const std::exception_ptr& error) {
        report(error);
        locker.close([](holdfast::error_code) {});
    });
    io.run();
} catch (const std::exception& e) {
    std::cerr << "stopped_holder: " << e.what() << '\n';
    return 1;
}

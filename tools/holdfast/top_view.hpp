#pragma once

#include "holdfast/console.hpp"
#include "holdfast/screen.hpp"
#include "holdfast/stores.hpp"
#include "holdfast/top_page.hpp"

#include <holdfast/locker.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace holdfast::cli {

struct top_settings {
    std::string prefix;
    top_order order = top_order::age;
    std::chrono::milliseconds interval{2'000};
    std::optional<unsigned> count; ///< how many views; empty: no limit
    bool batch = false;            ///< pages at the standard output instead of a screen
};

/// The view of `holdfast top`: asks for the locks, shows them, waits, and begins again.
class top_view {
public:
    struct ending {
        int status = 0;
        int signal = 0; ///< that has ended it; 0 if it was none
    };

    /// Throws `std::runtime_error` if there is no terminal and pages are not wanted, and as
    /// `open_store()`.
    top_view(const store_settings& store, top_settings how, const console& out);

    /// Returns at the end of the view. The terminal is restored with the end of this object.
    ending run();

private:
    void refresh();
    void on_list(error_code error, lock_list&& found);
    void ask_for_queues();
    void on_view_complete();
    void show();
    void end(int signal);

    void wait_for_key();
    void on_key(char key);
    void wait_for_signal();
    void on_signal(int number);

    const top_settings how_;
    const console& out_;
    asio::io_context io_;
    locker locker_;
    asio::steady_timer timer_;
    asio::signal_set signals_;
    asio::posix::stream_descriptor keys_;
    std::optional<screen> screen_;
    std::array<char, 16> input_{};

    top_page shown_, next_;
    std::size_t queues_open_ = 0; // answers to come
    bool asking_ = true;
    unsigned views_ = 0;
    int signal_ = 0;
};

} // namespace holdfast::cli

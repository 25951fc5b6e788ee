#include "holdfast/top_view.hpp"

#include "holdfast/observer.hpp"
#include "holdfast/statuses.hpp"

#include <holdfast/resource.hpp>

#include <boost/asio/buffer.hpp>

#include <fcntl.h>

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <utility>
#include <vector>

namespace holdfast::cli {

namespace {

constexpr std::size_t most_queues = 256;
constexpr const char* hint = "q quit  sort: a age, t ttl, l length of queue, n name  space refresh";

// Empty if no lock can have this name: another program may have set such a key.
std::optional<resource> name_of_lock(const std::string& name)
try {
    return resource(name);
} catch (const std::invalid_argument&) {
    return std::nullopt;
}

} // namespace

top_view::top_view(const store_settings& store, top_settings how, const console& out)
    : how_(std::move(how)),
      out_(out),
      locker_(io_.get_executor(), open_store(store, use::looking)),
      timer_(io_),
      signals_(io_),
      keys_(io_)
{
    next_.prefix = how_.prefix;
    next_.order = how_.order;
    shown_ = next_;
    if (how_.batch)
        return;
    screen_.emplace();
    // A description of its own: the reads do not make the terminal of other programs non-blocking.
    const int terminal = ::open("/dev/tty", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (terminal == -1)
        throw std::runtime_error("there is no terminal to read keys from: use --batch");
    keys_.assign(terminal);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH})
        signals_.add(number);
}

top_view::ending top_view::run()
{
    if (screen_) {
        screen_->enter();
        wait_for_signal();
        wait_for_key();
    }
    refresh();
    io_.run();
    if (screen_)
        screen_->leave();
    if (!shown_.trouble.empty())
        return {status::no_majority, signal_};
    return {shown_.found.complete || views_ == 0 ? status::good : status::incomplete, signal_};
}

void top_view::refresh()
{
    asking_ = true;
    locker_.list(how_.prefix,
        [this](error_code error, lock_list found) { on_list(error, std::move(found)); });
}

void top_view::on_list(error_code error, lock_list&& found)
{
    next_.trouble = error ? "cannot list the locks: " + reason_of(error, locker_) : std::string();
    next_.found = std::move(found);
    next_.queues.clear();
    next_.order = shown_.order;
    next_.sort();
    ask_for_queues();
}

void top_view::ask_for_queues()
{
    std::vector<resource> asked;
    for (std::size_t i = 0; i < std::min(next_.found.locks.size(), most_queues); ++i) {
        if (const auto name = name_of_lock(next_.found.locks[i].resource))
            asked.push_back(*name);
    }
    queues_open_ = asked.size();
    if (asked.empty())
        return on_view_complete();
    for (resource& each : asked) {
        locker_.inspect(std::move(each), [this](error_code error, resource_report found) {
            if (!error)
                next_.queues[found.resource] = found.queue ? found.queue->length : 0;
            if (--queues_open_ == 0)
                on_view_complete();
        });
    }
}

void top_view::on_view_complete()
{
    asking_ = false;
    ++views_;
    next_.stats = locker_.stats();
    next_.order = shown_.order; // a key may have changed it meanwhile
    shown_ = next_;
    shown_.sort();
    show();
    if (how_.count && views_ == *how_.count)
        return end(0);
    timer_.expires_after(how_.interval);
    timer_.async_wait([this](error_code) {
        if (!asking_)
            refresh();
    });
}

void top_view::show()
{
    if (screen_) {
        const screen::extent size = screen_->size();
        return screen_->show(
            lines_of(shown_, out_, size.rows, std::max<std::size_t>(size.columns, 2) - 1, hint));
    }
    if (out_.how().json)
        return out_.result(json_of(shown_));
    if (views_ > 1)
        out_.result("");
    for (const std::string& line : lines_of(shown_, out_))
        out_.result(line);
}

void top_view::end(int signal)
{
    signal_ = signal;
    io_.stop();
}

void top_view::wait_for_key()
{
    keys_.async_read_some(asio::buffer(input_), [this](error_code error, std::size_t size) {
        if (error)
            return end(SIGHUP); // the terminal is gone
        for (std::size_t i = 0; i < size; ++i)
            on_key(input_[i]);
        wait_for_key();
    });
}

void top_view::on_key(char key)
{
    constexpr std::array<std::pair<char, top_order>, 4> orders{{{'a', top_order::age},
        {'t', top_order::ttl}, {'l', top_order::queue}, {'n', top_order::name}}};
    if (key == 'q' || key == 'Q')
        return end(0);
    if (key == ' ' && !asking_) {
        asking_ = true;
        timer_.cancel();
        return refresh();
    }
    for (const auto& [letter, order] : orders) {
        if (key != letter)
            continue;
        shown_.order = order;
        shown_.sort();
        show();
    }
}

void top_view::wait_for_signal()
{
    signals_.async_wait([this](error_code error, int number) {
        if (error)
            return;
        on_signal(number);
        wait_for_signal();
    });
}

void top_view::on_signal(int number)
{
    if (number == SIGWINCH)
        return show();
    if (number != SIGTSTP)
        return end(number);
    screen_->leave();
    ::raise(SIGSTOP); // returns when a shell continues it
    screen_->enter();
    show();
}

} // namespace holdfast::cli

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

// Random commands, some like those of the library and some wrong: few keys, few tokens, all
// options, and mistakes of every kind. The same seed gives the same commands.
class random_commands {
public:
    using words = std::vector<std::string>;

    enum class about : std::uint8_t {
        everything,
        fencing, // mostly
        batons,  // mostly: leases that are given as they are
        no_time  // no command whose reply depends on the time of its execution
    };

    explicit random_commands(std::uint64_t seed, about what = about::everything)
        : random_(seed),
          what_(what)
    {}

    words next();

    // A member of a queue: a token, a reference and a channel.
    std::string member();

    // 0 … count - 1
    std::size_t roll(std::size_t count) { return random_() % count; }
    bool one_in(std::size_t count) { return roll(count) == 0; }
    std::string_view any(std::initializer_list<std::string_view> of);

    // Cuts the bytes at random places, or not at all.
    std::vector<std::string_view> pieces(std::string_view bytes);

private:
    words correct();
    words on_key();
    words on_connection();
    words on_scripts();
    words set();
    words expire();
    words script_call();
    words queue_call(words w, bool enqueues);
    words baton_call(words w);
    words baton_call(words w, const std::string& value);
    void give_lease();
    words open_call(words w);
    words on_registers();
    std::string number_of_any_kind();
    std::string ballot();
    std::string register_name();
    std::string settings();
    std::string run_id();
    std::string record();
    std::string fenced_key(std::string_view usual);
    words join_call(words w);
    words on_sorted_set();
    words on_channel();
    words on_tracking();
    std::string channel();
    std::string waiting_token();
    std::string lag();
    std::string lease();
    std::string ttl();
    std::string key();
    std::string token();
    std::string number();
    void make_mistake(words& command);

    std::mt19937_64 random_;
    about what_;
    bool watch_next_ = false;
    std::deque<words> planned_;
};

} // namespace holdfast::test

#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

// Commands as the library sends them, and as nobody should: few keys, few tokens, all options, and
// mistakes of every kind. The same seed makes the same commands.
class random_commands {
public:
    using words = std::vector<std::string>;

    enum class about : std::uint8_t {
        everything,
        fencing, // mostly
        no_time  // nothing whose reply depends on when it is executed
    };

    explicit random_commands(std::uint64_t seed, about what = about::everything)
        : random_(seed),
          what_(what)
    {}

    words next();

    // Of a queue: a token, a reference and a channel.
    std::string member();

    // 0 … count - 1
    std::size_t roll(std::size_t count) { return random_() % count; }
    bool one_in(std::size_t count) { return roll(count) == 0; }
    std::string_view any(std::initializer_list<std::string_view> of);

    // Cuts bytes where it likes, or not at all.
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
    words fenced_acquire(words w);
    words raise(words w);
    words fenced_renew(words w);
    words on_counter();
    std::string counter();
    std::string settings();
    std::string run_id();
    std::string record();
    std::string fenced_key(std::string_view usual);
    words join_call(words w);
    words on_sorted_set();
    words on_channel();
    words on_tracking();
    std::string channel();
    std::string ttl();
    std::string key();
    std::string token();
    std::string number();
    void make_mistake(words& command);

    std::mt19937_64 random_;
    about what_;
    bool watch_next_ = false;
};

} // namespace holdfast::test

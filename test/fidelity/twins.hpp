#pragma once

#include "fidelity/random_commands.hpp"
#include "fidelity/wire.hpp"
#include "support/redis_model.hpp"
#include "support/redis_server.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

// A real server and a model, to which the same is said, and which have to answer the same.
//
// The model is told the wall clock, so the test has to know at which millisecond the real server
// executed a command: it puts TIME before and after each. If both show the same millisecond, that
// was it. If not, the model has to give the same reply at one of those milliseconds; and if it
// matters for later which it was, then both forget their keys.
class twins {
public:
    using words = random_commands::words;
    using time = redis_model::time;

    struct connection {
        explicit connection(std::uint16_t port) : real(port) {}
        wire real;
        redis_model::session session;
    };

    enum class clock : std::uint8_t {
        shown,
        hidden // the server would refuse TIME; what is said must not depend on it
    };

    explicit twins(std::string password = {}, const std::vector<std::string>& arguments = {});

    std::unique_ptr<connection> connect();

    // Says these commands on a connection, at once, cut at random places.
    void say(connection& to, const std::vector<words>& commands, random_commands& random,
        clock c = clock::shown);

    // Says so many random commands, on several connections by turns.
    void say(std::size_t count, random_commands& random, clock c = clock::shown);

    // Says bytes that may be no command on a connection of its own, and lets the server close it.
    void say_bytes(std::string_view bytes, random_commands& random);

    // For the state that only the real server has to be put into.
    std::string real_only(const words& command) { return server_.command(command); }
    redis_server& server() { return server_; }
    redis_model& model() { return model_; }

    static std::size_t compared; // replies, by all twins

private:
    struct times {
        time before, after;
    };
    void compare(connection& to, const std::vector<words>& commands,
        const std::vector<std::string>& replies, const std::vector<times>& when,
        random_commands& random);
    void compare_group(connection& to, const std::vector<words>& commands,
        const std::vector<std::string>& replies, time when, random_commands& random);
    bool compare_one(connection& to, const words& command, const std::string& reply, times when);
    std::string ask_model(
        connection& to, const std::vector<words>& commands, time when, random_commands& random);
    bool equal(const words& command, const std::string& real, const std::string& model) const;
    void forget_keys(connection& to);

    redis_server server_;
    redis_model model_;
    std::string version_; // of the real one
    std::vector<std::unique_ptr<connection>> connections_;
    time last_{};
};

} // namespace holdfast::test

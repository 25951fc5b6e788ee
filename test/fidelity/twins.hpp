#pragma once

#include "fidelity/random_commands.hpp"
#include "fidelity/wire.hpp"
#include "support/redis_model.hpp"
#include "support/redis_server.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

// A real server and a model, to which the same is said, and which have to answer the same.
//
// The model is told the wall clock, so the test has to know at which millisecond the real server
// executed a command: it puts TIME before and after each. If both show the same millisecond, that
// was it. If not, the model has to give the same reply at one of those milliseconds; and if it
// matters for later which it was, then both forget their keys. A command that nobody knows, before
// and after each, shows which replies and messages belong to it.
//
// What the other connections are sent meanwhile is compared when all has been said. Keys do not go
// on their own, only when somebody looks at them: that can be compared.
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

    // Says these commands on a connection, at once, cut at random places. False if they could not
    // all be compared; then both have forgotten their keys.
    bool say(connection& to, const std::vector<words>& commands, random_commands& random,
        clock c = clock::shown);

    // Says so many random commands, on several connections by turns.
    void say(std::size_t count, random_commands& random, clock c = clock::shown);

    // Looks whether all connections that say() uses have been sent the same.
    void compare_pushes();

    // One of those connections, for a test that wants to know who says what.
    connection& connected(std::size_t number);
    // It goes, and both servers have noticed.
    void disconnect(std::size_t number);
    void disconnect_all();

    // Both start again with what they had.
    void restart();

    // Says bytes that may be no command on a connection of its own, and lets the server close it.
    void say_bytes(std::string_view bytes, random_commands& random);

    // For the state that only the real server has to be put into.
    std::string real_only(const words& command) { return server_.command(command); }
    time real_time();
    redis_server& server() { return server_; }
    void flush_model(); // FLUSHALL by somebody else
    redis_model& model() { return model_; }

    static std::size_t compared, pushes; // replies, and of them what nobody asked for, by all twins

private:
    struct times {
        time before, after;
    };
    // A command that every server refuses in every state with the same words.
    static const std::string separator;
    static constexpr std::string_view separated =
        "-ERR unknown command '|', with args beginning with: \r\n";

    static bool is(const words& command, std::string_view name);

    // Commands that nothing may come between, and what has come of them.
    struct unit {
        std::vector<words> commands;
        std::vector<std::string> replies{};
        times when{};
    };
    std::vector<unit> ask_real(
        connection& to, const std::vector<words>& commands, random_commands& random, clock c);
    bool compare(connection& to, std::span<const unit> units, random_commands& random);
    void compare_group(connection& to, std::span<const unit> units, random_commands& random);
    bool compare_one(connection& to, const unit& u);
    void compare(const unit& u, const std::vector<std::string>& told, const std::string& before);
    std::string ask_model(
        connection& to, std::span<const unit> units, time when, random_commands& random);
    std::string as_if_7_0_15(std::string reply) const;
    bool equal(const unit& u, std::vector<std::string> real, std::vector<std::string> model) const;
    bool equal(const words& command, const std::string& real, const std::string& model) const;
    std::vector<std::string> read_pushes(connection& of);
    static void leave_out_changes(std::vector<std::string>& replies);
    void forget();
    std::string learn_about_server();

    redis_server server_;
    redis_model model_;
    std::string version_; // of the real one
    std::string password_;
    std::vector<std::unique_ptr<connection>> connections_;
    std::map<std::uint64_t, std::string> pushes_; // of the model, by session
    bool doubtful_ = false; // whether both have told the same of keys that are over
    time last_{};
};

} // namespace holdfast::test

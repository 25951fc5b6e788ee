#pragma once

#include "fidelity/random_commands.hpp"
#include "fidelity/wire.hpp"
#include "support/node_clock.hpp"
#include "support/redis_model.hpp"
#include "support/redis_server.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

// A real server and a model, to which the same is said at the same time, and which have to answer
// the same, and to send the same to the other connections.
//
// Their clock is the test's: it stands, and goes on or back only between what is said. Keys do not
// go on their own, only when somebody looks at them: that can be compared. A command that nobody
// knows, before and after each, shows which replies and messages belong to it.
class twins {
public:
    using words = random_commands::words;
    using time = redis_model::time;

    struct connection {
        explicit connection(std::uint16_t port) : real(port) {}
        wire real;
        redis_model::session session;
    };

    explicit twins(std::string password = {}, const std::vector<std::string>& arguments = {});

    std::unique_ptr<connection> connect();

    // Says these commands on a connection, at once, cut at random places.
    void say(connection& to, const std::vector<words>& commands, random_commands& random);

    // Says so many random commands, on several connections by turns, while the clock goes.
    void say(std::size_t count, random_commands& random);

    // Looks whether all connections that say() uses have been sent the same.
    void compare_pushes();

    time now() const noexcept { return now_; }
    void pass(time by); // it may go back

    // One of those connections, for a test that wants to know who says what.
    connection& connected(std::size_t number);
    // It goes, and both servers have noticed.
    void disconnect(std::size_t number);

    // Both start again with what they had.
    void restart();

    // Says bytes that may be no command on a connection of its own, and lets the server close it.
    void say_bytes(std::string_view bytes, random_commands& random);

    // For the state that only the real server has to be put into.
    std::string real_only(const words& command) { return server_.command(command); }
    redis_server& server() { return server_; }
    void flush_model(); // FLUSHALL by somebody else
    redis_model& model() { return model_; }

    // Called with what both servers have said to a command.
    std::function<void(const words& command, const std::string& reply)> on_reply;

    static std::size_t compared, pushes; // replies, and of them what nobody asked for, by all twins

private:
    // A command that every server refuses in every state with the same words.
    static const std::string separator;
    static constexpr std::string_view separated =
        "-ERR unknown command '|', with args beginning with: \r\n";

    static bool is(const words& command, std::string_view name);

    // Commands that nothing may come between, and what has come of them.
    struct unit {
        std::vector<words> commands;
        std::vector<std::string> replies{};
    };
    std::vector<unit> ask_real(
        connection& to, const std::vector<words>& commands, random_commands& random);
    std::string ask_model(connection& to, std::span<const unit> units, random_commands& random);
    void compare(connection& to, std::span<const unit> units, random_commands& random);
    void compare(const unit& u, const std::vector<std::string>& told, const std::string& before);
    std::string as_if_7_0_15(std::string reply) const;
    bool equal(const unit& u, std::vector<std::string> real, std::vector<std::string> model) const;
    bool equal(const words& command, const std::string& real, const std::string& model) const;
    std::vector<std::string> read_pushes(connection& of);
    std::string learn_about_server();

    time now_;
    node_clock clock_;
    redis_server server_;
    redis_model model_;
    std::string version_; // of the real one
    std::string password_;
    std::vector<std::unique_ptr<connection>> connections_;
    std::map<std::uint64_t, std::string> pushes_; // of the model, by session
};

} // namespace holdfast::test

#pragma once

#include "support/node_clock.hpp"
#include "support/redis_model.hpp"
#include "support/redis_server.hpp"
#include "verification/fidelity/random_commands.hpp"
#include "verification/fidelity/wire.hpp"

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

// A real server and a model. Both get the same commands at the same time, and must give the same
// replies and send the same pushes to the other connections.
//
// The test sets their clock: it stands still, and goes forward or back only between commands. There
// is no active expiry: a key expires only when a command reads it, because only that can be
// compared. An unknown command before and after each command shows which replies and pushes belong
// to it.
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

    // Sends these commands on a connection all at once, cut at random places, and compares.
    void say(connection& to, const std::vector<words>& commands, random_commands& random);

    // Sends this many random commands, on several connections in turn, while the clock moves.
    void say(std::size_t count, random_commands& random);

    // Compares the pushes to all connections of say().
    void compare_pushes();

    time now() const noexcept { return now_; }
    void pass(time by); // it may go back

    // One of the connections of say(), for tests that choose the connection of each command.
    connection& connected(std::size_t number);
    // Closes it and waits until the real server has noticed.
    void disconnect(std::size_t number);

    // Restarts both with the data that they had.
    void restart();

    // Sends bytes that may be malformed on a new connection, and lets the server close it.
    void say_bytes(std::string_view bytes, random_commands& random);

    // For commands that put only the real server into a state.
    std::string real_only(const words& command) { return server_.command(command); }
    redis_server& server() { return server_; }
    void flush_model(); // FLUSHALL by another client
    redis_model& model() { return model_; }

    // Called with the common reply of both servers to a command.
    std::function<void(const words& command, const std::string& reply)> on_reply;

    static std::size_t compared, pushes; // numbers of replies and of pushes, by all twins

private:
    // A command that every server refuses in every state with the same message.
    static const std::string separator;
    static constexpr std::string_view separated =
        "-ERR unknown command '|', with args beginning with: \r\n";

    static bool is(const words& command, std::string_view name);

    // Commands without a separator between them, and their replies.
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
    std::string version_; // of the real server
    std::string password_;
    std::vector<std::unique_ptr<connection>> connections_;
    std::map<std::uint64_t, std::string> pushes_; // of the model, by session
};

} // namespace holdfast::test

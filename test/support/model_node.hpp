#pragma once

#include "core/connection.hpp"
#include "core/time.hpp"
#include "support/redis_model.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

// A model of a Redis server that uses the time of a test. Serves one connection, can be silent,
// down, or faulty, and keeps a log of its commands.
class model_node {
public:
    explicit model_node(std::string run_id);

    // Opens, closes and serves the connection as requested. Returns true if anything happened.
    bool serve(core::connection& c, core::time_point now);

    // Breaks the connection. Requests sent before have been executed. Unsent answers are lost.
    void disconnect(core::connection& c, core::time_point now);

    // Runs a command of another client and returns its encoded reply. Notifications for the
    // connection are delivered when it is served.
    std::string command(const std::vector<std::string>& words, core::time_point now);

    // The value of a key, which is the token of its owner, or nothing.
    std::string owner(const std::string& key, core::time_point now) const;

    // Deletes all keys, as another client could.
    void forget_keys() { command({"FLUSHALL"}, {}); }

    redis_model server;
    std::chrono::milliseconds ahead{};         // its clock, relative to ours
    bool up = true;                            // accepts connections
    bool silent = false;                       // executes commands, but holds its answers back
    bool deaf = false;                         // reads nothing from the connection
    std::map<std::string, std::string> errors; // by the name of the command in the log
    std::map<std::string, std::string> wrong;  // the same: encoded answers of another type
    std::vector<std::string> log; // "SET A", "DELETE A", "RENEW A B", "PASS A queue" …

    // The log since the last call, without the handshake.
    std::string commands();

private:
    redis_model::time wall(core::time_point now) const;
    std::optional<std::string> note(redis_model::arguments command);
    bool send(core::connection& c, core::time_point now);

    struct client {
        redis_model::session session;
        std::string answers; // and pushes that the server has sent
    };
    bool connected_ = false;
    std::unique_ptr<client> client_; // the server refers to it, so its address must not change
};

} // namespace holdfast::test

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

// A model of a Redis server in the time of a test. Serves one connection, can be silent, down, or
// out of order, and keeps a log of what it was asked.
class model_node {
public:
    explicit model_node(std::string run_id);

    // Opens, closes and serves the connection as it wants; true if anything came of it.
    bool serve(core::connection& c, core::time_point now);

    // Breaks the connection; what was sent before has been executed, what was not answered never
    // will be.
    void disconnect(core::connection& c, core::time_point now);

    // A command of somebody else; returns its reply as it is sent. What the connection has to hear
    // of it comes when it is served.
    std::string command(const std::vector<std::string>& words, core::time_point now);

    // Who holds a key now, or nothing.
    std::string owner(const std::string& key, core::time_point now) const;

    // As if somebody had deleted them all.
    void forget_keys() { command({"FLUSHALL"}, {}); }

    redis_model server;
    std::chrono::milliseconds ahead{}; // its clock, of ours
    bool up = true;                    // takes connections
    bool silent = false; // executes, but keeps its answers to itself for the time being
    bool deaf = false;   // takes nothing from the connection
    std::map<std::string, std::string> errors; // by what a command is called in the log
    std::vector<std::string> log; // "SET A", "DELETE A", "RENEW A B", "PASS A queue" …

    // The log since the last call, without the greeting.
    std::string commands();

private:
    redis_model::time wall(core::time_point now) const;
    std::optional<std::string> note(redis_model::arguments command);
    bool send(core::connection& c, core::time_point now);

    struct client {
        redis_model::session session;
        std::string answers; // and what else the server has sent to it
    };
    bool connected_ = false;
    std::unique_ptr<client> client_; // the server knows where it is, wherever the node is moved
};

} // namespace holdfast::test

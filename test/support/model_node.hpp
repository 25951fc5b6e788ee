#pragma once

#include "core/connection.hpp"
#include "core/time.hpp"
#include "resp/reader.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

// What of a Redis server this library uses, in the time of a test: keys with a token and an end,
// two scripts, a greeting. Serves one connection, and can be silent, down, or out of order.
class model_node {
public:
    struct held_key {
        std::string token;
        core::time_point until{};
    };

    explicit model_node(std::string id) : run_id(std::move(id)) {}

    // Opens, closes and serves the connection as it wants; true if anything came of it.
    bool serve(core::connection& c, core::time_point now);

    // Breaks the connection; what was sent before has been executed, what was not answered never
    // will be.
    void disconnect(core::connection& c, core::time_point now);

    // Who holds a key now, or nothing.
    std::string owner(const std::string& key, core::time_point now) const;

    std::map<std::string, held_key> keys;
    std::string run_id;
    bool up = true;      // takes connections
    bool silent = false; // executes, but keeps its answers to itself for the time being
    bool deaf = false;   // takes nothing from the connection
    bool knows_scripts = true;
    bool greets_silently = false;
    std::string type_of_keys = "string";       // what TYPE says of a key that is there
    std::map<std::string, std::string> errors; // by what a command is called in the log
    std::vector<std::string> log;              // "SET A", "DELETE A", "RENEW A B" …

    // The log since the last call, without the greeting.
    std::string commands();

private:
    using arguments = std::vector<std::string>;

    void take_commands(std::string_view bytes, core::time_point now);
    std::string execute(const arguments& command, core::time_point now);
    std::string greet(const arguments& command);
    std::string set(const arguments& command, core::time_point now);
    std::string run_script(const arguments& command, core::time_point now);
    bool send(core::connection& c, core::time_point now);

    bool connected_ = false;
    resp::reader reader_;
    std::string answers_;
};

} // namespace holdfast::test

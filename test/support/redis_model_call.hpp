#pragma once

#include "support/redis_model.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::test {

// A command that is being executed: the functions of the same names are the commands.
struct redis_model::call {
    redis_model& server;
    session& from;
    arguments argv;
    time wall;
    std::string& out;

    struct command;

    void execute();
    void unknown();

    // Replies.
    void simple(std::string_view text);
    void error(std::string_view text);
    void integer(std::int64_t n);
    void bulk(std::string_view text);
    void verbatim(std::string_view text);
    void null();
    void array(std::size_t count);
    void map(std::size_t pairs);

    // Keys.
    keyspace& keys() { return server.data_[from.database]; }
    keyspace::iterator none() { return keys().end(); }
    keyspace::iterator look_up(std::string_view key); // none if it has expired
    void assign(std::string_view key, keyspace::iterator found, std::string_view value,
        std::optional<time> expires_at);
    void remove(keyspace::iterator which);

    struct ending {
        std::optional<time> at;
        std::string_view error; // if there is none
    };
    ending end_of_set(std::string_view number, bool seconds, bool absolute) const;
    ending end_of_expire(std::string_view number, bool seconds) const;
    bool get_value(keyspace::iterator found);        // the reply of GET; false if that is an error
    void end_at(keyspace::iterator found, time end); // at once if that is past
    void expire_in(bool seconds);
    void time_left(bool seconds);

    // Commands on keys.
    void set();
    void setnx();
    void get();
    void getset();
    void del();
    void exists();
    void expire() { expire_in(true); }
    void pexpire() { expire_in(false); }
    void ttl() { time_left(true); }
    void pttl() { time_left(false); }
    void type();
    void lpush();
    void flushall();

    // Scripts.
    void eval();
    void evalsha();
    void script_load();
    void script_flush();
    void script_exists();
    std::optional<std::size_t> key_count();
    void run(const known_script& s, std::size_t keys);
    void release(const known_script& s, arguments names, arguments values);
    void renew(const known_script& s, arguments names, arguments values);
    void script_error(const known_script& s, std::string_view text, unsigned line = 1);

    // The connection and the server.
    void hello();
    void auth();
    void select();
    void client_setname();
    void client_getname();
    void client_id();
    void info();
    void role();
    void ping();
    void time_now();
    void quit();
    bool authenticated() const { return server.password_.empty() || from.authenticated; }
    bool log_in(std::string_view user, std::string_view password);
    bool rename(std::string_view name);

    // Why a command that writes is refused; empty if it is not.
    std::string_view refused_write() const;
};

namespace resp_text {

inline constexpr std::string_view syntax = "ERR syntax error";
inline constexpr std::string_view no_integer = "ERR value is not an integer or out of range";
inline constexpr std::string_view wrong_type =
    "WRONGTYPE Operation against a key holding the wrong kind of value";

} // namespace resp_text

// As the server reads numbers: no blanks, no plus sign, no zeros in front.
std::optional<std::int64_t> integer_of(std::string_view text);

// `lower` is in lower case.
bool same(std::string_view text, std::string_view lower);

void append(std::string& out, std::int64_t n);

} // namespace holdfast::test

#pragma once

#include "support/redis_model.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::test {

// A command that is being executed. Functions named like commands execute them.
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
    void push(std::size_t count); // an array in the old protocol
    void number(double n);

    // Keys.
    keyspace& keys() { return server.data_[from.database]; }
    keyspace::iterator none() { return keys().end(); }
    keyspace::iterator look_up(std::string_view key); // none if it has expired
    void assign(std::string_view key, keyspace::iterator found, std::string_view value,
        std::optional<time> expires_at);
    void remove(keyspace::iterator which);

    struct ending {
        std::optional<time> at;
        std::string_view error; // set if there is no time
    };
    ending end_of_set(std::string_view number, bool seconds, bool absolute) const;
    ending end_of_expire(std::string_view number, bool seconds) const;
    bool get_value(keyspace::iterator found);        // replies to GET; false if that is an error
    void end_at(keyspace::iterator found, time end); // deletes it at once if that is past
    void expire_in(bool seconds);
    void time_left(bool seconds);
    void watch(arguments keys); // if the client wants that

    // Commands on keys.
    void set();
    void setnx();
    void get();
    void mget();
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

    // Sorted sets.
    void zadd();
    void zadd_numbers(); // ZADDNUMBERS key score count: ZADD GT of the members 0 to count - 1
    void zrem();
    void zpopmin();
    void zrange();
    void zcard();
    void zscore();
    void members(const item& set, std::size_t first, std::size_t count, bool scores, bool pairs);
    void members_changed(keyspace::iterator set);

    // Scripts.
    void eval();
    void evalsha();
    void script_load();
    void script_flush();
    void script_exists();
    std::optional<std::size_t> key_count();
    void run(const script& s, std::size_t keys);
    // Executes a command of a script that `caller` runs with these keys.
    void execute_in_script(call& caller, arguments keys);
    bool written = false; // by the script; after that no command is refused

    // Messages and notifications.
    void subscribe();
    void unsubscribe();
    void publish();
    void client_tracking();
    void client_caching();
    listener& listen();
    bool only_listens() const; // in this protocol it may do nothing else
    void confirm(std::string_view what, std::optional<std::string_view> channel, std::size_t left);

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

    // Why a command that writes is refused; empty if it is accepted.
    std::string_view refused_write() const;
    std::string_view refused_in_script(bool takes_memory);
};

namespace resp_text {

inline constexpr std::string_view no_float = "ERR value is not a valid float";
inline constexpr std::string_view syntax = "ERR syntax error";
inline constexpr std::string_view no_integer = "ERR value is not an integer or out of range";
inline constexpr std::string_view wrong_type =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr std::string_view out_of_memory =
    "OOM command not allowed when used memory > 'maxmemory'.";
inline constexpr std::string_view unknown_option =
    "ERR the model of a server does not support this option";

} // namespace resp_text

// Reads a number like the server: no blanks, no plus sign, no leading zeros.
std::optional<std::int64_t> integer_of(std::string_view text);

// `lower` is in lower case.
bool same(std::string_view text, std::string_view lower);

void append(std::string& out, std::int64_t n);

} // namespace holdfast::test

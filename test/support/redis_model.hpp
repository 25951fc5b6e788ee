#pragma once

#include "support/redis_model_sorted_set.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace holdfast::test {

// A model of a Redis server, with the features used by the library and by the locks that it is
// compared with: bytes in, bytes out, and a wall clock that is set by the caller. A test compares
// it with a real server of version 7.0.
class redis_model {
public:
    using arguments = std::span<const std::string_view>; // of a command, with its name
    using time = std::chrono::milliseconds; // of the server's wall clock, since the epoch

    struct item {
        enum class kind : std::uint8_t { string, list, hash, set, sorted_set };
        kind is = kind::string;
        std::string value{};              // of a string
        std::optional<time> expires_at{}; // expired as soon as the clock is past this
        sorted_set members{};             // of a sorted set

        bool operator==(const item&) const = default;
    };
    using data = std::vector<std::unordered_map<std::string, item>>; // by database

    // The server's state of one connection. When it is destroyed or assigned, the server can no
    // longer send anything to it.
    struct session {
        std::string input; // of a command that is incomplete
        int protocol = 2;
        bool authenticated = false;
        bool closed = false; // by the server; nothing more is read from it
        unsigned database = 0;
        std::uint64_t id = 0; // given by the server with the first bytes
        std::string name;
        std::size_t needed = 0; // size of `input` before which parsing it again is useless
        bool caching = false;   // the keys of the next command are watched
        std::shared_ptr<const void> presence; // while it exists, messages can be sent here
    };

    // States in which a server refuses commands: which ones, and with which error.
    enum class trouble : std::uint8_t {
        none,
        loading,       // LOADING to nearly everything
        busy,          // BUSY: a script does not end
        out_of_memory, // OOM to what needs memory; deletions work
        misconfigured, // MISCONF to all writes: snapshots cannot be written
        no_replicas,   // NOREPLICAS to all writes
        read_only,     // READONLY to all writes: it is a replica
    };

    explicit redis_model(std::string run_id, std::string password = {});

    // Takes bytes as they arrive. Appends the replies to complete commands.
    void receive(session& from, std::string_view bytes, time wall, std::string& replies);

    // Active expiry: deletes expired keys.
    void expire(time wall);

    // A key that exists at that time, or null.
    const item* find(const std::string& key, time wall, unsigned database = 0) const;

    // Stores a key as a command would.
    void store(std::string key, item value, unsigned database = 0);

    // The whole state, for snapshots. The caller chooses the state after a restart.
    const data& contents() const noexcept { return data_; }
    // Restarts the server with this state: another run id, no scripts, no subscribers. The caller
    // destroys the sessions.
    void restart(std::string run_id, data contents);

    // Called for each key that a command sets or deletes, or whose ttl it changes; null if it is
    // deleted.
    std::function<void(const std::string& key, const item* now)> on_change;

    // Called with bytes sent to a session that are no replies: messages, and notifications that
    // watched keys have changed.
    std::function<void(std::uint64_t session, std::string_view bytes)> on_push;

    // Called with each command before it is executed. If it returns something, that is the reply,
    // and the command is not executed.
    std::function<std::optional<std::string>(arguments)> before;

    trouble state = trouble::none;
    bool has_script(std::string_view digest) const; // SCRIPT EXISTS
    void forget_scripts() noexcept;                 // SCRIPT FLUSH
    // Servers accept only scripts whose digest the model has learned: those of the library, that of
    // the Redis manual, and those given here, by all servers of this thread. Throws
    // std::invalid_argument if the text does not compile.
    static void learn_script(std::string_view text, std::string_view digest);

    // The sessions that are notified, once, when a key changes.
    using watches = std::map<std::string, std::set<std::uint64_t>, std::less<>>;
    const watches& watched() const noexcept { return watched_; }

private:
    struct call; // of one command
    struct script;
    class interpreter;
    using keyspace = std::unordered_map<std::string, item>;
    enum class step : std::uint8_t { command, nothing, incomplete, error };
    // A session that subscribes to channels or watches keys.
    struct listener {
        std::weak_ptr<const void> presence;
        int protocol = 2;
        std::set<std::string, std::less<>> channels{};
        bool tracks = false;  // CLIENT TRACKING
        bool opts_in = false; // only after CLIENT CACHING YES
    };

    std::size_t serve(session& from, std::string_view input, time wall, std::string& replies);
    step take(session& from, std::string_view input, std::size_t& at);
    step take_array(session& from, std::string_view input, std::size_t& at);
    step take_line(std::string_view input, std::size_t& at);
    bool split(std::string_view line);
    step header(std::string_view input, std::size_t& at, std::string_view& text);
    step fail(std::string_view why);

    bool active() const noexcept; // whether it expires keys actively
    keyspace::iterator remove(keyspace& from, keyspace::iterator which);
    void changed(const keyspace::value_type& key);

    listener* listening(std::uint64_t id); // null if the session does not listen
    std::int64_t publish(std::string_view channel, std::string_view message);
    void tell_of_change(const std::string& key);
    void tell_of_change(std::uint64_t to, std::string_view keys);
    void tell_of_flush();
    void tell(std::uint64_t to, std::string_view what);

    bool has_script(std::size_t index) const;
    void keep_script(std::size_t index);

    data data_;
    std::string run_id_;
    std::string password_;
    std::vector<bool> scripts_; // which of all known ones it has
    std::uint64_t sessions_ = 0;
    time first_end_ = time::max();                // no key ends earlier
    std::map<std::uint64_t, listener> listeners_; // by session
    watches watched_;
    std::uint64_t serving_ = 0;      // the session whose command is being executed
    std::string* replies_ = nullptr; // replies to it
    std::string after_reply_;        // sent to it after its reply
    // Members, so that their memory is reused: the command that is being executed.
    std::vector<std::string_view> arguments_;
    std::string unquoted_, key_;
    std::string failure_; // of the input
};

} // namespace holdfast::test

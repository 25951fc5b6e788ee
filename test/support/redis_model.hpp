#pragma once

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

// A Redis server, as far as the library and the locks that it is compared with use one: bytes in,
// bytes out, and a wall clock that is told. A test compares it with a real server of version 7.0.
class redis_model {
public:
    using arguments = std::span<const std::string_view>; // of a command, with its name
    using time = std::chrono::milliseconds; // of the server's wall clock, since the epoch

    struct item {
        enum class kind : std::uint8_t { string, list, hash, set, sorted_set };
        kind is = kind::string;
        std::string value;                // of a string
        std::optional<time> expires_at{}; // gone as soon as the clock shows more than this
        std::vector<std::pair<double, std::string>> members{}; // of a sorted set, in its order

        bool operator==(const item&) const = default;
    };
    using data = std::vector<std::unordered_map<std::string, item>>; // by database

    // What the server keeps of one connection. When it goes, or is given a new value, the server
    // has nobody there to send anything to.
    struct session {
        std::string input; // of a command that has not arrived as a whole
        int protocol = 2;
        bool authenticated = false;
        bool closed = false; // by the server; nothing more is taken from it
        unsigned database = 0;
        std::uint64_t id = 0; // given by the server with the first bytes
        std::string name;
        std::size_t needed = 0; // bytes of `input` before which it is of no use to look at it again
        bool caching = false;   // the next command is one whose keys are to be watched
        std::shared_ptr<const void> presence; // while it lasts, messages can be sent here
    };

    // States of a server in which it refuses commands, as the real one does: which, and how.
    enum class trouble : std::uint8_t {
        none,
        loading,       // LOADING to nearly everything
        busy,          // BUSY: a script runs for ever
        out_of_memory, // OOM to what needs memory; deletions work
        misconfigured, // MISCONF to all writes: snapshots cannot be written
        no_replicas,   // NOREPLICAS to all writes
        read_only,     // READONLY to all writes: it is a replica
    };

    explicit redis_model(std::string run_id, std::string password = {});

    // Takes bytes as they come, appends the replies of the commands that are complete.
    void receive(session& from, std::string_view bytes, time wall, std::string& replies);

    // Active expiry: deletes what has expired.
    void expire(time wall);

    // A key that is there at that time, or null.
    const item* find(const std::string& key, time wall, unsigned database = 0) const;

    // The whole state, for snapshots: what a restart brings back is the caller's choice.
    const data& contents() const noexcept { return data_; }
    // The server starts again, with this state: other run id, no scripts, nobody who listens. The
    // caller drops the sessions.
    void restart(std::string run_id, data contents);

    // Called for each key that a command sets, deletes or gives another end; null if it is gone.
    std::function<void(const std::string& key, const item* now)> on_change;

    // Called with what is sent to a session without a command of its own: messages, and that keys
    // which it watches have changed.
    std::function<void(std::uint64_t session, std::string_view bytes)> on_push;

    // Called with each command before it is executed. What it returns, if anything, is the reply,
    // and the command is not executed.
    std::function<std::optional<std::string>(arguments)> before;

    trouble state = trouble::none;
    bool scripts_known() const noexcept; // all that the library loads
    void forget_scripts() noexcept;      // SCRIPT FLUSH

    // Which sessions are told when a key changes, once.
    using watches = std::map<std::string, std::set<std::uint64_t>, std::less<>>;
    const watches& watched() const noexcept { return watched_; }

private:
    struct call; // of one command
    struct known_script;
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

    bool active() const noexcept; // expires keys on its own
    keyspace::iterator remove(keyspace& from, keyspace::iterator which);
    void changed(const keyspace::value_type& key);

    listener* listening(std::uint64_t id); // null if that session does not
    std::int64_t publish(std::string_view channel, std::string_view message);
    void tell_of_change(const std::string& key);
    void tell_of_change(std::uint64_t to, std::string_view keys);
    void tell_of_flush();
    void tell(std::uint64_t to, std::string_view what);

    static constexpr std::size_t script_count = 10;

    data data_;
    std::string run_id_;
    std::string password_;
    bool scripts_[script_count] = {};
    std::uint64_t sessions_ = 0;
    time first_end_ = time::max();                // no key ends earlier
    std::map<std::uint64_t, listener> listeners_; // by session
    watches watched_;
    std::uint64_t serving_ = 0;      // the session whose command is being executed
    std::string* replies_ = nullptr; // to it
    std::string after_reply_;        // what it is told when it has its reply
    // Kept for their memory: the command that is being executed.
    std::vector<std::string_view> arguments_;
    std::string unquoted_, key_;
    std::string failure_; // of the input
};

} // namespace holdfast::test

#pragma once

#include "core/time.hpp"
#include "redis/node/node_settings.hpp"
#include "redis/node/reply.hpp"
#include "redis/node/scripts.hpp"
#include "redis/node/server_info.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::redis {

// Greets a node on a new connection, logs in, loads the scripts, and finds out what kind of node it
// is.
//
// Uses RESP3 if the node supports it (HELLO 3), else RESP2. A replica or a sentinel is refused, and
// a cluster member, unless one is expected: its vote would not be that of an independent node. A
// node is also refused if it forbids, or does not have, a command that is first needed after a
// lease has been granted.
class handshake {
public:
    enum class outcome : std::uint8_t { going_on, ready, failed };

    // Appends the first commands to `out`.
    void start(const node_settings& settings, credentials login, std::string& out);
    void start(const node_settings& settings, std::string& out)
    {
        start(settings, {.user = settings.user, .password = settings.password}, out);
    }

    // Takes the next reply; may append more commands.
    outcome on_reply(reply answer, core::time_point now, std::string& out);

    // When `failed`: why. When `ready`: a reason for a warning, or nothing.
    const failure& why() const noexcept { return why_; }
    // When `ready`: what it has found out, without the identity.
    const server_info& server() const noexcept { return server_; }
    // Whether this push is the next reply.
    bool expects(reply push) const noexcept
    {
        return first_ < expected_.size() && expected_[first_] == step::subscribe &&
               push.size() > 1 && push[1].text == "subscribe";
    }

private:
    enum class step : std::uint8_t {
        hello,
        auth,
        role,
        select,
        name,
        library_name,
        library_version,
        server_info,
        memory_info,
        release,
        renew,
        pass_on,
        enqueue,
        time,
        try_get,
        try_del,
        try_pexpire,
        try_evalsha,
        try_eval,
        try_ballot,
        try_largest,
        tracking,
        subscribe
    };

    void continue_from(step first, std::string& out);
    void load(const script& s, step which, std::string& out);
    void try_commands(std::string& out);
    void expect(step s) { expected_.push_back(s); }
    outcome fail(errc code, std::string text);
    outcome on_hello(reply answer, std::string& out);
    outcome on_role(reply answer);
    outcome on_server_info(reply answer);
    outcome on_memory_info(reply answer);
    outcome on_time(reply answer);
    outcome on_script(reply answer, std::string_view digest);
    outcome on_try_ballot(reply answer);
    outcome on_try(reply answer, std::string_view command);
    failure without_secrets(std::string_view error_text) const;
    outcome refuse_mode(std::string_view mode);
    outcome refuse_role(std::string_view role);

    const node_settings* settings_ = nullptr;
    credentials login_;
    server_info server_;
    failure why_;
    std::vector<step> expected_; // the steps that were sent together, in order
    std::size_t first_ = 0;      // the first whose reply is still to come
};

} // namespace holdfast::redis

#pragma once

#include "redis/quorum/vote_round.hpp"
#include "resp/reader.hpp"

#include <holdfast/error.hpp>

#include <span>
#include <string>
#include <string_view>

namespace holdfast::redis {

using reply = std::span<const resp::value>;

// Why a node failed: an error code, and a text that is safe to log.
struct failure {
    error_code code;
    std::string text;
};

// What an answer to SET NX means. Every error that a node can answer to a SET proves that it was
// not executed, so it is `failed`. A reply that is no answer to a SET is `unknown`.
vote vote_of(reply answer) noexcept;

// What a server's error means. Only this module reads error texts.
errc meaning_of(std::string_view error_text) noexcept;

// The same for a whole answer; nothing if it is no error.
errc trouble_in(reply answer) noexcept;

bool is_no_script(reply answer) noexcept;

// Whether an error is about the commands that were sent, or that a script has called: the node
// executes them for no client.
bool refuses_command(std::string_view error_text) noexcept;
// Whether an error is about the data of these commands, and about no other data.
bool is_about_data(std::string_view error_text) noexcept;

// Whether the node has become a replica.
bool is_of_replica(std::string_view error_text) noexcept;

// Whether a member of a cluster does not have the slot of the keys now, or not alone: it has done
// nothing.
bool is_redirection(std::string_view error_text) noexcept;

// Whether this connection can no longer be used: the node is not what we take it for.
bool disqualifies(errc reason) noexcept;

// The text of the node, shortened, with everything but printable ASCII escaped.
std::string printable(std::string_view text);

// Omits the arguments that some servers repeat: they may contain a token or a password. Hides
// `secret` wherever it occurs, unless it is empty.
failure failure_of(std::string_view error_text, std::string_view secret = {});
// Why a stream could not be opened, or broke.
failure failure_of(const error_code& why);

} // namespace holdfast::redis

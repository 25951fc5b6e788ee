#pragma once

#include "redis/vote_round.hpp"
#include "resp/reader.hpp"

#include <holdfast/error.hpp>

#include <span>
#include <string>
#include <string_view>

namespace holdfast::redis {

using reply = std::span<const resp::value>;

// Why a node failed us, in our terms and in words that are safe to log.
struct failure {
    error_code code;
    std::string text;
};

// What an answer to SET NX means. Every error that a node can give to a SET proves that it was not
// executed, so it is `failed`; an answer that is none to a SET is `unknown`.
vote vote_of(reply answer) noexcept;

// What a server's error means. The only place that reads error texts.
errc meaning_of(std::string_view error_text) noexcept;

// The same of a whole answer; nothing if it is no error.
errc trouble_in(reply answer) noexcept;

bool is_no_script(reply answer) noexcept;

// What an error says of the commands that were sent, or that a script has called: the node does not
// execute them, for us or for anybody.
bool refuses_command(std::string_view error_text) noexcept;
// Or of the data that they are about, and of no other.
bool is_about_data(std::string_view error_text) noexcept;

// Whether this connection is of no more use: the node said that it is not what we take it for.
bool disqualifies(errc reason) noexcept;

// The node's own words, shortened, with everything but printable ASCII escaped.
std::string printable(std::string_view text);

// Without the arguments that some servers repeat: they may hold a token or a password.
failure failure_of(std::string_view error_text);

} // namespace holdfast::redis

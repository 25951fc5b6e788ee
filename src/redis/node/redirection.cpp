#include "redis/node/redirection.hpp"

#include "redis/node/hash_slot.hpp"
#include "redis/node/slot_table.hpp"
#include "resp/number.hpp"

#include <algorithm>

namespace holdfast::redis {

namespace {

std::string_view next_word(std::string_view& text)
{
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

} // namespace

std::optional<redirection> read_redirection(std::string_view error_text, const std::string& asked)
{
    const std::string_view kind = next_word(error_text);
    std::int64_t slot = 0, port = 0;
    if ((kind != "ASK" && kind != "MOVED") || !resp::parse_integer(next_word(error_text), slot) ||
        slot < 0 || slot >= hash_slots)
        return std::nullopt;
    const std::string_view where = next_word(error_text);
    const std::size_t colon = where.rfind(':'); // an IPv6 address has others before it
    if (colon == where.npos || !resp::parse_integer(where.substr(colon + 1), port) || port < 1 ||
        port > 65535)
        return std::nullopt;
    const std::string_view host = where.substr(0, colon);
    if (!host.empty() && !is_host(host))
        return std::nullopt;
    return redirection{.asks = kind == "ASK",
        .slot = static_cast<std::uint32_t>(slot),
        .to = {.host = host.empty() ? asked : std::string(host),
            .port = static_cast<std::uint16_t>(port),
            .path = {}}};
}

} // namespace holdfast::redis

#include "redis/node/slot_table.hpp"

#include <algorithm>

namespace holdfast::redis {

namespace {

using resp::value_kind;

constexpr std::size_t longest_host = 253; // of a name in DNS

// The index behind a value and all that is nested in it; at most the size of the answer.
std::size_t behind(reply answer, std::size_t at) noexcept
{
    for (std::size_t open = 1; open != 0 && at < answer.size(); ++at)
        open += answer[at].count - std::size_t(1);
    return at;
}

bool is_slot(const resp::value& v) noexcept
{
    return v.kind == value_kind::integer && v.integer >= 0 && v.integer < hash_slots;
}

} // namespace

bool same(const core::address& a, const core::address& b) noexcept
{
    return a.port == b.port && a.host == b.host;
}

bool is_host(std::string_view text) noexcept
{
    constexpr std::string_view others = "-_.:";
    return !text.empty() && text.size() <= longest_host &&
           std::all_of(text.begin(), text.end(), [&](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      others.find(c) != others.npos;
           });
}

bool operator==(const slot_table& a, const slot_table& b) noexcept
{
    return a.owners_ == b.owners_ && std::equal(a.primaries_.begin(), a.primaries_.end(),
                                         b.primaries_.begin(), b.primaries_.end(), same);
}

bool slot_table::read(reply answer, const std::string& asked)
{
    primaries_.clear();
    owners_.fill(nobody);
    if (answer.empty() || answer.front().kind != value_kind::array)
        return false;
    std::size_t at = 1;
    for (std::uint32_t range = 0; range < answer.front().count; ++range) {
        at = read_range(answer, at, asked);
        if (at == 0)
            return false;
    }
    return !primaries_.empty();
}

// first, last, [host, port, …] of the primary, and the same of its replicas. A node that does not
// know its own address, or an endpoint, leaves the host out: it is that of the node that was asked.
std::size_t slot_table::read_range(reply answer, std::size_t at, const std::string& asked)
{
    if (at + 5 >= answer.size() || answer[at].kind != value_kind::array || answer[at].count < 3)
        return 0;
    const resp::value& first = answer[at + 1];
    const resp::value& last = answer[at + 2];
    const resp::value& node = answer[at + 3];
    const resp::value& host = answer[at + 4];
    const resp::value& port = answer[at + 5];
    if (!is_slot(first) || !is_slot(last) || first.integer > last.integer ||
        node.kind != value_kind::array || node.count < 2 || host.count != 0 ||
        port.kind != value_kind::integer || port.integer < 1 || port.integer > 65535)
        return 0;
    const bool unnamed = host.kind == value_kind::null || host.text.empty();
    if (!unnamed && host.text != "?" && !is_host(host.text))
        return 0;
    if (host.text != "?") { // a node that does not know the address: the slots have no owner yet
        const std::uint16_t index = index_of({.host = unnamed ? asked : std::string(host.text),
            .port = static_cast<std::uint16_t>(port.integer),
            .path = {}});
        if (index == nobody)
            return 0;
        std::fill(owners_.begin() + first.integer, owners_.begin() + last.integer + 1, index);
    }
    return behind(answer, at);
}

std::uint16_t slot_table::index_of(const core::address& where)
{
    const auto found = std::find_if(primaries_.begin(), primaries_.end(),
        [&](const core::address& each) { return same(each, where); });
    const auto index = static_cast<std::uint16_t>(found - primaries_.begin());
    if (found == primaries_.end()) {
        if (primaries_.size() == most_primaries)
            return nobody;
        primaries_.push_back(where);
    }
    return index;
}

} // namespace holdfast::redis

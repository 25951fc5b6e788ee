#include "zookeeper/node_names.hpp"

#include "core/address.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace holdfast::zookeeper_store {

namespace {

constexpr std::string_view lock_mark = "-lock-", token_mark = "_c_", no_wait_mark = ".try";
constexpr std::size_t token_size = 32;

bool is_digit(char c) noexcept
{
    return c >= '0' && c <= '9';
}

bool is_kept(char c) noexcept
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '_' || c == ':' || c == '-';
}

// Names of ZooKeeper itself, or of this library for other nodes.
bool is_reserved(std::string_view name) noexcept
{
    return name == "." || name == ".." || name == "zookeeper" || node_paths::is_proof(name);
}

} // namespace

std::string escaped(std::string_view resource)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    const bool reserved = is_reserved(resource);
    std::string name;
    for (std::size_t i = 0; i < resource.size(); ++i) {
        const auto byte = static_cast<unsigned char>(resource[i]);
        if (is_kept(resource[i]) && !(reserved && i == 0)) {
            name += resource[i];
        } else {
            name += '%';
            name += digits[byte >> 4u];
            name += digits[byte & 15u];
        }
    }
    return name;
}

std::optional<std::string> unescaped(std::string_view name)
{
    std::string resource;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] != '%') {
            resource += name[i];
            continue;
        }
        unsigned byte = 0;
        const char* const from = name.data() + i + 1;
        if (name.size() - i < 3 || std::from_chars(from, from + 2, byte, 16).ptr != from + 2)
            return std::nullopt;
        resource += static_cast<char>(byte);
        i += 2;
    }
    if (escaped(resource) != name)
        return std::nullopt;
    return resource;
}

std::string lock_prefix(std::string_view token, unsigned tries, bool waits)
{
    std::string name(token_mark);
    name += token;
    if (!waits)
        name += no_wait_mark;
    if (tries != 0)
        name += '.' + std::to_string(tries);
    name += lock_mark;
    return name;
}

std::string_view token_in(std::string_view name) noexcept
{
    const bool ours = name.starts_with(token_mark) && name.size() > token_mark.size() + token_size;
    if (ours)
        return name.substr(token_mark.size(), token_size);
    return name;
}

bool never_waits(std::string_view name) noexcept
{
    return name.starts_with(token_mark) && name.size() > token_mark.size() + token_size &&
           name.substr(token_mark.size() + token_size).starts_with(no_wait_mark);
}

// A negative number has its sign within ten characters if it has fewer than ten digits. A minus
// before ten digits is a sign only behind a character that ends a prefix: others have names such as
// `write-0000000001`.
std::optional<std::int32_t> sequence_of(std::string_view name) noexcept
{
    constexpr std::size_t width = 10;
    const auto first = std::find_if_not(name.rbegin(), name.rend(), is_digit);
    auto digits = static_cast<std::size_t>(first - name.rbegin());
    const std::string_view before = name.substr(0, name.size() - digits);
    if (digits + 1 < width)
        return std::nullopt;
    bool negative = false;
    if (digits + 1 == width) {
        if (!before.ends_with('-'))
            return std::nullopt;
        negative = true;
    } else if (digits == width) {
        negative = before.ends_with("--") || before.ends_with("_-");
    }
    digits = std::min(digits, width);
    const auto number = core::whole_number<std::int64_t>(name.substr(name.size() - digits));
    const std::int64_t value = negative ? -number.value_or(0) : number.value_or(0);
    if (value < INT32_MIN || value > INT32_MAX)
        return std::nullopt;
    return static_cast<std::int32_t>(value);
}

std::vector<std::string> node_paths::folders() const
{
    std::vector<std::string> all;
    for (std::size_t end = 0; end < root_.size();) {
        end = std::min(root_.find('/', end + 1), root_.size());
        all.push_back(root_.substr(0, end));
    }
    return all;
}

std::string node_paths::proof_of(std::int64_t session) const
{
    std::array<char, 16> hex{};
    const auto end =
        std::to_chars(hex.data(), hex.data() + hex.size(), static_cast<std::uint64_t>(session), 16);
    return root_ + '/' + std::string(proof_prefix) + std::string(hex.data(), end.ptr);
}

} // namespace holdfast::zookeeper_store

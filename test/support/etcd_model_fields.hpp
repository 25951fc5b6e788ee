#pragma once

#include "etcd/wire/protobuf.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// A number in a message has no sign.
inline std::uint64_t bits(std::int64_t value)
{
    return static_cast<std::uint64_t>(value);
}

/// The texts and numbers of a request, by field.
struct message_fields {
    explicit message_fields(std::string_view encoded)
    {
        etcd_store::wire::proto_reader r(encoded);
        while (r.next()) {
            // A number has no bytes, and asking for them would make it malformed.
            etcd_store::wire::proto_reader probe = r;
            const std::string_view text = probe.bytes();
            if (probe.good())
                texts[r.field()].emplace_back(text);
            else
                numbers[r.field()] = r.integer();
        }
    }
    std::string text(std::uint32_t field) const
    {
        const auto found = texts.find(field);
        return found == texts.end() ? std::string() : found->second.back();
    }
    std::int64_t number(std::uint32_t field) const
    {
        const auto found = numbers.find(field);
        return found == numbers.end() ? 0 : found->second;
    }

    std::map<std::uint32_t, std::vector<std::string>> texts;
    std::map<std::uint32_t, std::int64_t> numbers;
};

} // namespace holdfast::test

#pragma once

#include "redis/dialect/key_names.hpp"
#include "redis/inspection/client_record.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::redis {

// The encoded requests of inspections. Each stays valid until the next one.
class inspection_calls {
public:
    inspection_calls(key_names& names, client_settings settings)
        : names_(names),
          settings_(std::move(settings))
    {}

    bool is_fenced() const noexcept { return settings_.fenced; }
    // What stands before the resource in the name of a lock.
    std::string_view lock_prefix() { return names_.lock_of({}); }

    std::string_view view(std::string_view resource);
    // A step through the locks whose names begin with `prefix`.
    std::string_view scan(std::string_view prefix, std::string_view cursor);
    std::string_view clients(std::span<const std::uint32_t> ids);
    // To the holder that has this token.
    std::string_view tell(std::string_view channel, std::string_view token);
    // Deletes the lock if it has this value, or hands it off.
    std::string_view take(std::string_view resource, std::string_view value, bool hands_off);

private:
    key_names& names_;
    const client_settings settings_;
    std::string command_;
};

} // namespace holdfast::redis

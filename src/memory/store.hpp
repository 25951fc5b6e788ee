#pragma once

#include "core/owner_token.hpp"
#include "core/time.hpp"

#include <holdfast/inspect.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace holdfast::in_process {

// The keys, shared by all lockers that use copies of one backend, and who these lockers are.
class store {
public:
    // None if the resource is held at `now`; otherwise the fencing token.
    std::optional<std::uint64_t> grant(std::string_view resource, const core::owner_token& token,
        core::time_point until, core::time_point now);
    // The fencing token for the next holder after a transfer.
    std::uint64_t next_token();
    bool renew(std::string_view resource, const core::owner_token& token, core::time_point until,
        core::time_point now);
    bool remove(std::string_view resource, const core::owner_token& token, core::time_point now);
    core::time_point free_at(std::string_view resource);

    // The id of a new locker; who it is; it is gone.
    std::uint32_t new_client();
    void introduce(std::uint32_t client, client_info info);
    void forget_client(std::uint32_t client) noexcept;

    resource_report report(std::string_view resource, core::time_point now);
    lock_list list(std::string_view prefix, core::time_point now);
    // Removes the key of any holder. None if it is not held.
    struct taken_key {
        core::owner_token token{};
        lock_owner owner{};
    };
    std::optional<taken_key> take(std::string_view resource, core::time_point now);

private:
    struct held_key {
        core::owner_token owner{};
        core::time_point until{};
    };
    held_key* find_owned(
        std::string_view resource, const core::owner_token& token, core::time_point now);
    lock_owner owner_of(const core::owner_token& token) const;
    template <class Report>
    void fill(Report& report, const held_key& k, core::time_point now) const;

    std::mutex mutex_;
    std::unordered_map<std::string, held_key> keys_;
    std::unordered_map<std::uint32_t, client_info> clients_;
    std::uint64_t last_token_ = 0;
    std::uint32_t last_client_ = 0;
    std::size_t sweep_at_ = 64;
};

} // namespace holdfast::in_process

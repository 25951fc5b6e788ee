#include "memory/store.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace holdfast::in_process {

store::held_key* store::find_owned(
    std::string_view resource, const core::owner_token& token, core::time_point now)
{
    const auto found = keys_.find(std::string(resource));
    if (found == keys_.end() || found->second.until <= now ||
        found->second.owner.text != token.text)
        return nullptr;
    return &found->second;
}

std::optional<std::uint64_t> store::grant(std::string_view resource, const core::owner_token& token,
    core::time_point until, core::time_point now)
{
    const std::lock_guard lock(mutex_);
    if (keys_.size() >= sweep_at_) { // remove expired keys when half of all keys may be expired
        std::erase_if(keys_, [now](const auto& each) { return each.second.until <= now; });
        sweep_at_ = 2 * keys_.size() + 64;
    }
    held_key& k = keys_[std::string(resource)];
    if (k.until > now)
        return std::nullopt;
    k = {token, until};
    return ++last_token_;
}

std::uint64_t store::next_token()
{
    const std::lock_guard lock(mutex_);
    return ++last_token_;
}

bool store::renew(std::string_view resource, const core::owner_token& token, core::time_point until,
    core::time_point now)
{
    const std::lock_guard lock(mutex_);
    held_key* const k = find_owned(resource, token, now);
    if (k != nullptr)
        k->until = until;
    return k != nullptr;
}

bool store::remove(std::string_view resource, const core::owner_token& token, core::time_point now)
{
    const std::lock_guard lock(mutex_);
    if (find_owned(resource, token, now) == nullptr)
        return false;
    keys_.erase(std::string(resource));
    return true;
}

core::time_point store::free_at(std::string_view resource)
{
    const std::lock_guard lock(mutex_);
    const auto found = keys_.find(std::string(resource));
    return found == keys_.end() ? core::long_ago : found->second.until;
}

std::uint32_t store::new_client()
{
    const std::lock_guard lock(mutex_);
    return ++last_client_;
}

void store::introduce(std::uint32_t client, client_info info)
{
    const std::lock_guard lock(mutex_);
    clients_[client] = std::move(info);
}

void store::forget_client(std::uint32_t client) noexcept
{
    const std::lock_guard lock(mutex_);
    clients_.erase(client);
}

lock_owner store::owner_of(const core::owner_token& token) const
{
    constexpr std::size_t length_of_mark = 8;
    lock_owner owner;
    if (const auto stamp = core::owner_token::stamp_of(token.view())) {
        owner.id = stamp->client;
        owner.since = std::chrono::system_clock::time_point(std::chrono::seconds(stamp->seconds));
    }
    owner.mark = token.view().substr(0, length_of_mark);
    if (const auto found = clients_.find(owner.id); found != clients_.end()) {
        owner.client = found->second;
        owner.client_confirmed = true;
    }
    return owner;
}

template <class Report>
void store::fill(Report& report, const held_key& k, core::time_point now) const
{
    report.held = true;
    report.having = 1;
    report.owner = owner_of(k.owner);
    report.ttl_left = std::chrono::ceil<std::chrono::milliseconds>(k.until - now);
}

resource_report store::report(std::string_view resource, core::time_point now)
{
    const std::lock_guard lock(mutex_);
    resource_report r;
    r.resource = resource;
    r.majority = 1;
    if (last_token_ != 0)
        r.fence = last_token_;
    const auto found = keys_.find(std::string(resource));
    if (found != keys_.end() && found->second.until > now)
        fill(r, found->second, now);
    return r;
}

lock_list store::list(std::string_view prefix, core::time_point now)
{
    constexpr std::size_t most_locks = 20'000, most_bytes = 8u << 20u; // of names
    const std::lock_guard lock(mutex_);
    std::vector<decltype(keys_)::const_pointer> found;
    for (const auto& each : keys_) {
        if (each.first.starts_with(prefix) && each.second.until > now)
            found.push_back(&each);
    }
    const std::size_t listed = std::min(found.size(), most_locks);
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(listed),
        found.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
    lock_list all;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < listed; ++i) {
        bytes += found[i]->first.size();
        if (bytes > most_bytes)
            return all;
        listed_lock& l = all.locks.emplace_back();
        l.resource = found[i]->first;
        fill(l, found[i]->second, now);
    }
    all.complete = listed == found.size();
    return all;
}

std::optional<store::taken_key> store::take(std::string_view resource, core::time_point now)
{
    const std::lock_guard lock(mutex_);
    const auto found = keys_.find(std::string(resource));
    if (found == keys_.end() || found->second.until <= now)
        return std::nullopt;
    taken_key taken{found->second.owner, owner_of(found->second.owner)};
    keys_.erase(found);
    return taken;
}

} // namespace holdfast::in_process

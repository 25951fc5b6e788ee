#include "memory/memory_core.hpp"

#include <holdfast/memory.hpp>

namespace holdfast {

namespace in_process {

using core::backend_event;
using core::event_kind;

namespace {

core::validity validity_of(const core::claim_params& terms, core::time_point asked)
{
    return {.asked = asked, .ttl = terms.ttl, .until = asked + terms.ttl - terms.drift};
}

} // namespace

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

core::claim_id memory_core::attempt(std::uint64_t tag, std::string_view resource,
    const core::owner_token& token, const core::claim_params& terms, core::time_point now)
{
    const auto fence = keys_->grant(resource, token, now + terms.ttl, now);
    if (!fence) {
        events_.push(
            {.kind = event_kind::refused, .reason = errc::contended, .tag = tag, .asked = now});
        return 0;
    }
    const core::claim_id id = claims_.take();
    claim& c = claims_[id];
    c.resource.assign(resource);
    c.token = token;
    c.terms = terms;
    c.tag = tag;
    events_.push({.kind = event_kind::granted,
        .tag = tag,
        .valid = validity_of(terms, now),
        .fence = fence});
    return id;
}

void memory_core::renew(std::span<const core::claim_id> claims, bool, core::time_point now)
{
    for (const core::claim_id id : claims) {
        const claim& c = claims_[id];
        if (keys_->renew(c.resource, c.token, now + c.terms.ttl, now))
            events_.push(
                {.kind = event_kind::validity, .tag = c.tag, .valid = validity_of(c.terms, now)});
        else
            events_.push({.kind = event_kind::lost, .tag = c.tag});
    }
}

std::optional<std::uint64_t> memory_core::transfer(core::claim_id id, std::uint64_t tag)
{
    claims_[id].tag = tag;
    return keys_->next_token();
}

void memory_core::release(core::claim_id id, core::time_point now)
{
    const claim& c = claims_[id];
    const bool was_ours = keys_->remove(c.resource, c.token, now);
    events_.push({.kind = event_kind::released,
        .outcome = was_ours ? release_outcome::released : release_outcome::expired,
        .tag = c.tag});
    claims_.give_back(id);
}

void memory_core::watch(std::uint64_t tag, std::string_view resource, core::time_point)
{
    events_.push({.kind = event_kind::free_hint, .tag = tag, .free_at = keys_->free_at(resource)});
}

std::optional<core::backend_event> memory_core::next_event()
{
    if (events_.empty())
        return std::nullopt;
    return events_.pop();
}

} // namespace in_process

namespace {

class memory_factory final : public core::backend_factory {
public:
    std::unique_ptr<core::backend_core> make(std::uint64_t) const override
    {
        return std::make_unique<in_process::memory_core>(keys_);
    }

private:
    std::shared_ptr<in_process::store> keys_ = std::make_shared<in_process::store>();
};

} // namespace

backend memory()
{
    return backend(std::make_shared<memory_factory>());
}

} // namespace holdfast

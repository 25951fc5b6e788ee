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

void memory_core::introduce(const core::client_identity& self, core::time_point)
{
    client_info info;
    info.host = self.host;
    info.pid = self.pid;
    info.program = self.program;
    info.started = std::chrono::system_clock::time_point(std::chrono::seconds(self.started));
    keys_->introduce(id_, std::move(info));
}

void memory_core::begin(const core::inspection_request& request, core::time_point now)
{
    core::inspection_result result;
    result.tag = request.tag;
    switch (request.task) {
    case core::inspection_task::inspect:
        result.found = keys_->report(request.name, now);
        break;
    case core::inspection_task::list:
        result.found = keys_->list(request.name, now);
        break;
    case core::inspection_task::force_release: {
        forced_release forced = take_away(request.name, now);
        result.reason = forced.deleted == 0 ? errc::not_held : errc{};
        result.found = std::move(forced);
        break;
    }
    }
    results_.push_back(std::move(result));
}

// Holders in other lockers notice it at their next renewal: a store cannot wake them.
forced_release memory_core::take_away(std::string_view resource, core::time_point now)
{
    forced_release forced;
    const auto taken = keys_->take(resource, now);
    if (!taken)
        return forced;
    forced.owner = taken->owner;
    forced.deleted = 1;
    for (std::uint32_t i = 0; i < claims_.capacity(); ++i) {
        const claim* const c = claims_.find(claims_.id_at(i));
        if (c == nullptr || c->token.text != taken->token.text)
            continue;
        events_.push({.kind = event_kind::lost, .tag = c->tag});
        forced.told = true;
    }
    return forced;
}

void memory_core::forget(std::uint64_t tag)
{
    std::erase_if(results_, [tag](const auto& each) { return each.tag == tag; });
}

std::optional<core::inspection_result> memory_core::next_result()
{
    if (results_.empty())
        return std::nullopt;
    auto next = std::move(results_.front());
    results_.pop_front();
    return next;
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

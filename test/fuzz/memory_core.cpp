// The in-memory backend: two lockers on one store, compared with a simple model.
#include "memory/memory_core.hpp"

#include "fuzz/checks.hpp"
#include "fuzz/input.hpp"
#include "support/times.hpp"

#include <map>
#include <optional>
#include <string>

namespace {

using namespace holdfast::fuzz;
using namespace std::chrono_literals;
namespace core = holdfast::core;
using core::backend_event;
using core::event_kind;
using holdfast::errc;
using holdfast::release_outcome;

struct held {
    std::uint64_t tag = 0;
    core::time_point until{};
};

struct claim {
    core::claim_id id = 0;
    std::string resource;
    core::claim_params terms{};
};

struct world {
    explicit world(input& choices) : in(choices) {}

    input& in;
    std::shared_ptr<holdfast::in_process::store> keys =
        std::make_shared<holdfast::in_process::store>();
    holdfast::in_process::memory_core cores[2]{
        holdfast::in_process::memory_core(keys), holdfast::in_process::memory_core(keys)};
    core::time_point now = holdfast::test::start;
    std::map<std::string, held> model;
    std::map<std::uint64_t, claim> claims[2]; // by tag: granted and not yet released
    std::uint64_t last_tag = 0, last_fence = 0;

    bool owns(std::uint64_t tag, const std::string& resource) const
    {
        const auto found = model.find(resource);
        return found != model.end() && found->second.tag == tag && found->second.until > now;
    }

    // The next event, which must have this kind and tag.
    backend_event expect(std::size_t client, event_kind kind, std::uint64_t tag)
    {
        const std::optional<backend_event> e = cores[client].next_event();
        check(e && e->kind == kind && e->tag == tag, "the event that the model expects happens");
        return *e;
    }

    void attempt(std::size_t client)
    {
        const std::string resource(1 + in.below(3), static_cast<char>('A' + in.below(64)));
        static constexpr core::duration ttls[] = {1ms, 20ms, 300ms, 24h};
        const core::duration ttl = in.one_of(ttls);
        const core::claim_params terms{.ttl = ttl, .drift = ttl / 100, .guard = 0ms};
        const std::uint64_t tag = ++last_tag;
        core::owner_token token;
        token.text.fill('x');
        const std::string digits = std::to_string(tag);
        digits.copy(token.text.data(), digits.size());

        const auto found = model.find(resource);
        const bool is_free = found == model.end() || found->second.until <= now;
        const core::claim_id id = cores[client].attempt(tag, resource, token, terms, now);
        if (!is_free) {
            check(expect(client, event_kind::refused, tag).reason == errc::contended,
                "a refusal has the right reason");
            return;
        }
        const backend_event granted = expect(client, event_kind::granted, tag);
        check(granted.valid.until == now + terms.ttl - terms.drift, "a lease lasts its ttl");
        check(granted.fence && *granted.fence > last_fence, "fencing tokens grow");
        last_fence = *granted.fence;
        model[resource] = {tag, now + ttl};
        claims[client][tag] = {id, resource, terms};
    }

    auto choose(std::size_t client)
    {
        auto& mine = claims[client];
        return std::next(mine.begin(), static_cast<std::ptrdiff_t>(in.wide() % mine.size()));
    }

    void renew(std::size_t client)
    {
        const auto& [tag, c] = *choose(client);
        cores[client].renew({&c.id, 1}, in.flag(), now);
        if (!owns(tag, c.resource)) {
            expect(client, event_kind::lost, tag);
            return;
        }
        model[c.resource].until = now + c.terms.ttl;
        check(expect(client, event_kind::validity, tag).valid.until ==
                  now + c.terms.ttl - c.terms.drift,
            "a renewed lease lasts its ttl");
    }

    // Transfers a lease to another holder in the same process.
    void pass(std::size_t client)
    {
        const auto chosen = choose(client);
        const claim c = chosen->second;
        if (const auto found = model.find(c.resource);
            found != model.end() && found->second.tag == chosen->first)
            found->second.tag = last_tag + 1;
        claims[client].erase(chosen);
        const auto fence = cores[client].transfer(c.id, ++last_tag);
        check(fence && *fence > last_fence, "fencing tokens grow with each holder");
        last_fence = *fence;
        claims[client][last_tag] = c;
    }

    void release(std::size_t client)
    {
        const auto chosen = choose(client);
        const auto& [tag, c] = *chosen;
        const bool ours = owns(tag, c.resource);
        cores[client].release(c.id, now);
        const auto outcome = ours ? release_outcome::released : release_outcome::expired;
        check(expect(client, event_kind::released, tag).outcome == outcome,
            "a release has the right outcome");
        if (ours)
            model.erase(c.resource);
        claims[client].erase(chosen);
    }

    void watch(std::size_t client)
    {
        const std::string resource(1, static_cast<char>('A' + in.below(64)));
        const auto found = model.find(resource);
        cores[client].watch(++last_tag, resource, now);
        const core::time_point frees = expect(client, event_kind::free_hint, last_tag).free_at;
        if (found != model.end() && found->second.until > now)
            check(frees == found->second.until, "a watch reports the end of the lease");
        else
            check(frees <= now, "a watch reports a free resource as free now");
    }

    void step()
    {
        const std::size_t choice = in.byte(), client = choice & 1;
        switch (choice / 2 % 6) {
        case 0:
        case 1:
            attempt(client);
            break;
        case 2:
            if (!claims[client].empty())
                renew(client);
            break;
        case 3:
            if (!claims[client].empty())
                release(client);
            break;
        case 4:
            if (choice >= 192 && !claims[client].empty())
                pass(client);
            else
                watch(client);
            break;
        default:
            now += 1ms * (in.byte() + 1);
        }
        for (auto& c : cores) {
            check(!c.next_event(), "there is no event without a call");
            check(c.cleanup().is_done() && c.wake_at() == core::never,
                "the memory backend has no clean-up and no timer");
        }
    }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    input in(data, size);
    world w(in);
    while (!in.empty())
        w.step();
    for (std::size_t client : {0u, 1u}) {
        while (!w.claims[client].empty())
            w.release(client);
    }
    return 0;
}

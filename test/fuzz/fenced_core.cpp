// Two Redlock cores in fenced mode, with modelled servers that are slow, forget data and close
// connections. Checks the promises of leases and tokens.
#include "fuzz/fenced_world.hpp"

namespace {

using namespace holdfast::fuzz;
namespace core = holdfast::core;

constexpr core::duration longest_ttl = 60s;

// The user of the cores, and the faults of their nodes.
struct user final : fenced_world {
    using fenced_world::fenced_world;

    std::uint64_t last_tag = 0;

    void attempt(std::size_t variant)
    {
        static constexpr core::claim_params kinds[] = {{.ttl = 1s, .drift = 12ms, .guard = 50ms},
            {.ttl = 20ms, .drift = 2ms, .guard = 1ms}, {.ttl = 300ms, .drift = 5ms, .guard = 50ms},
            {.ttl = longest_ttl, .drift = 602ms, .guard = 3s}};
        const std::uint64_t tag = ++last_tag;
        core::owner_token token;
        token.text.fill('0');
        const std::string digits = std::to_string(tag);
        digits.copy(token.text.data() + token.text.size() - digits.size(), digits.size());
        claim& c = open[tag];
        c.client = in.below(clients.size());
        c.resource = in.flag() ? "A" : "B";
        c.terms = in.one_of(kinds);
        c.terms.queue = variant < 7    ? core::queueing::none
                        : variant < 14 ? core::queueing::if_contended
                                       : core::queueing::now;
        c.least = largest(c.resource);
        core::claim_id id = 0;
        const claim begun = c; // a copy, because the claim may end at once
        act([&] {
            id = clients[begun.client]->attempt(tag, begun.resource, token, begun.terms, now);
            open[tag].id = id;
        });
    }

    // An open claim in this stage, chosen by the input, or open.end().
    auto choose(stage wanted)
    {
        std::vector<std::uint64_t> all;
        for (const auto& [tag, c] : open) {
            if (c.now == wanted)
                all.push_back(tag);
        }
        return all.empty() ? open.end() : open.find(all[in.wide() % all.size()]);
    }

    void abandon()
    {
        const auto chosen = choose(stage::asking);
        if (chosen == open.end())
            return;
        const claim c = chosen->second;
        open.erase(chosen);
        act([&] { clients[c.client]->abandon(c.id, now); });
    }

    void release()
    {
        const auto chosen = choose(stage::held);
        if (chosen == open.end())
            return;
        claim& c = chosen->second;
        c.now = stage::releasing;
        const claim was = c;
        act([&] { clients[was.client]->release(was.id, now); });
    }

    void renew(std::size_t client, bool again)
    {
        std::vector<core::claim_id> some;
        for (const auto& [tag, c] : open) {
            if (c.client == client && c.now == stage::held && (some.empty() || in.flag()))
                some.push_back(c.id);
        }
        if (!some.empty())
            act([&] { clients[client]->renew(some, again, now); });
    }

    // Transfers a lease to another holder in the same process.
    void pass_on()
    {
        const auto chosen = choose(stage::held);
        if (chosen == open.end() ||
            !clients[chosen->second.client]->can_transfer(chosen->second.id))
            return;
        claim c = chosen->second;
        open.erase(chosen);
        c.least = excludes() && c.told > now ? largest(c.resource) : c.token;
        claim& next = open[++last_tag] = c;
        give(next, clients[c.client]->transfer(c.id, last_tag));
    }

    void probe_waiters()
    {
        const auto chosen = choose(stage::held);
        if (chosen != open.end())
            act([&] {
                clients[chosen->second.client]->queue().probe_waiters(chosen->second.id, now);
            });
    }

    void misbehave(fenced_node& n);
    void step();
    void finish();
};

void user::misbehave(fenced_node& n)
{
    fenced_node::connection& c = n.clients[in.below(n.clients.size())];
    const std::size_t choice = in.byte(), variant = choice / 8;
    act([&] {
        switch (choice % 8) {
        case 0:
            n.take(c, in.byte(), now);
            return;
        case 1:
            n.execute(c, now);
            return;
        case 2:
            n.deliver(c, in.byte(), now);
            return;
        case 3:
            if (c.open)
                n.close(c, variant % 2 == 0, boost::asio::error::connection_reset, now);
            return;
        case 4:
            return n.execute_what_is_late(now);
        case 5:
            return n.restart(!forgets() || variant % 2 == 0, now);
        case 6:
            return variant % 2 == 0 ? n.forget_scripts() : n.mislead(in.flag() ? "A" : "B", now);
        default:
            if (loses_locks())
                n.lose_locks(now);
            else if (sets_clocks())
                n.clock_is_ahead = 1s * (static_cast<int>(in.byte()) - 128);
        }
    });
}

void user::step()
{
    static constexpr core::duration times[] = {1ms, 5ms, 30ms, 100ms, 400ms, 1s, 4s, 61s};
    const std::uint8_t choice = in.byte();
    const std::size_t variant = choice / 12;
    switch (choice % 12) {
    case 0:
    case 1:
        return attempt(variant);
    case 2:
        return release();
    case 3:
        return abandon();
    case 4:
        return renew(variant % 2, in.flag());
    case 5:
        return variant < 14 ? pass_on() : probe_waiters();
    case 6:
        serve(*nodes[in.below(nodes.size())]);
        return;
    case 7:
        return serve_all();
    case 8:
        return pass(in.one_of(times));
    case 9:
        now = std::max(now, std::min(wake_at(), now + 10s));
        return wake();
    default:
        return misbehave(*nodes[in.below(nodes.size())]);
    }
}

// Releases all claims. Then no request and no key must be left.
void user::finish()
{
    while (choose(stage::asking) != open.end())
        abandon();
    while (choose(stage::held) != open.end())
        release();
    for (int i = 0; i < 24; ++i) {
        pass(200ms);
        serve_all();
    }
    pass(500ms); // the longest time that the core waits for a release
    check(open.empty(), "every claim ends");
    for (const auto& n : nodes)
        n->execute_what_is_late(now);
    pass(2 * longest_ttl);
    for (const auto& n : nodes)
        check(sets_clocks() || n->locks(now).empty(), "no key is left after its ttl");
    for (const auto& client : clients) {
        check(client->cleanup().is_done(), "no clean-up is left after the end of all claims");
        act([&] { client->close(now); });
    }
    now += 2 * longest_ttl;
    wake();
    for (const auto& client : clients)
        check(client->wake_at() == core::never, "a closed core has no timer");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    input in(data, size);
    user u(in);
    while (!in.empty())
        u.step();
    u.finish();
    return 0;
}

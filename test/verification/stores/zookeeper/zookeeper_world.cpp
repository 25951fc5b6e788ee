#include "verification/stores/zookeeper/zookeeper_world.hpp"

#include "verification/stores/environment.hpp"
#include "verification/stores/zookeeper/client.hpp"
#include "verification/stores/zookeeper/foreign_client.hpp"
#include "verification/stores/zookeeper/queue_judge.hpp"
#include "verification/stores/zookeeper/theme.hpp"

#include <deque>
#include <limits>

namespace holdfast::zookeeper_simulation {

namespace {

// When clients are cut off.
constexpr duration longest_seclusion = 20s;

// Some processes that use an ensemble, and some foreign ones.
class zookeeper_world final : public store_simulation::environment {
public:
    zookeeper_world(std::uint64_t seed, bool aged)
        : environment(seed, 9),
          theme_(choose_theme(w, aged)),
          servers_(w, theme_.servers),
          queues_(w, servers_, judge)
    {
        servers_.on_commit = [this](const auto&) {
            queues_.look();
        };
        if (w.random.chance(0.1) && aged)
            age_a_queue();
        servers_.begin();
    }

private:
    double retiring() const override { return 0.3; }
    duration choose_ttl() override
    {
        return w.random.of_any_size(theme_.shortest_ttl, theme_.longest_ttl);
    }

    store_simulation::client& add_client(const store_simulation::client_params& p) override
    {
        const client_character c{.slow_clock = servers_.settings().fast_clocks,
            .stubborn = theme_.strikes || theme_.splits};
        return all_.emplace_back(w, judge, p, servers_, c, [this] { queues_.look(); });
    }

    void begin_faults() override { servers_.trouble = theme_.faults; }
    void begin_events() override
    {
        std::vector<std::string> queues;
        for (std::size_t i = 0; i < resources(); ++i)
            queues.push_back(queue_judge::queue_of("r" + std::to_string(i)));
        const std::size_t foreign = w.random.below(3);
        for (std::size_t i = 0; i < foreign; ++i)
            foreign_.emplace_back(w, servers_, static_cast<int>(i), queues).begin();
        if (theme_.strikes)
            repeat(ttl() / 8, ttl(), [this] { lie_in_wait(); });
        if (theme_.splits)
            repeat(ttl() / 2, 2 * ttl(), [this] { split(); });
    }
    void end_faults() override
    {
        servers_.trouble = {};
        for (foreign_client& each : foreign_)
            each.stop();
    }

    void fail(std::size_t kind, std::size_t) override
    {
        const std::size_t any = w.random.below(servers_.size());
        const std::size_t leader = servers_.leader();
        switch (kind) {
        case 0:
            return servers_.freeze(leader, w.random.of_any_size(10ms, 15s));
        case 1:
            return servers_.freeze(any, w.random.of_any_size(10ms, 15s));
        case 2:
            return servers_.isolate(leader, w.random.of_any_size(100ms, 15s));
        case 3:
            return servers_.isolate(any, w.random.of_any_size(100ms, 15s));
        case 4:
            return servers_.cut_clients(any, w.random.of_any_size(10ms, 15s));
        case 5:
            return servers_.crash(leader, w.random.of_any_size(10ms, 5s));
        case 6:
            return servers_.crash(any, w.random.of_any_size(10ms, 5s));
        case 7:
            return split();
        default:
            return servers_.change_leader();
        }
    }

    // Strikes a client when it has just heard of a server: while it believes for longest.
    void lie_in_wait()
    {
        std::vector<client*> holders;
        for (client& each : all_) {
            if (each.runs().runs() && each.holds_something() && !each.waits_for_answers())
                holders.push_back(&each);
        }
        if (holders.empty())
            return;
        client& c = *holders[w.random.below(holders.size())];
        // The first answer is that to the greeting, the next ones are often those to heartbeats.
        const bool anew = w.random.chance(0.6);
        c.after_answers(anew ? 2 + w.random.below(2) : 1, anew, [this, &c](std::size_t server) {
            // The leader itself knows at once of what it has answered.
            if (server != servers_.leader() || !w.random.chance(theme_.isolation))
                strike_soon(c, server);
        });
        if (anew)
            c.lose_connections();
    }
    void strike_soon(client& c, std::size_t server)
    {
        w.after(w.random.of_any_size(1us, 20ms), [this, &c, server] { strike(c, server); });
    }
    void strike(client& c, std::size_t server)
    {
        if (!faults_happen())
            return;
        const duration timeout = servers_.session_timeout(ttl());
        const duration length =
            std::min(w.random.of_any_size(timeout, 2 * timeout), longest_seclusion);
        if (w.random.chance(theme_.isolation))
            servers_.isolate(server, length);
        if (w.random.chance(0.9))
            c.seclude(length);
        else
            c.runs().pause_for(length);
    }
    // For a while there are two leaders. Clients stay with the old one because others refuse them.
    void split()
    {
        const duration most = servers_.settings().tick * servers_.settings().sync_ticks;
        const std::size_t old = servers_.leader();
        servers_.split(most + w.random.of_any_size(10ms, 5s));
        for (std::size_t i = 0; i < servers_.size(); ++i) {
            if (i != old)
                servers_.turn_clients_away(i, most);
        }
        w.after(w.random.between(most / 8, most), [this, old] {
            for (client& each : all_)
                lie_in_wait_at(each, old);
        });
    }
    void lie_in_wait_at(client& c, std::size_t old)
    {
        c.after_answers(1, true, [this, &c, old](std::size_t server) {
            if (server == old)
                strike_soon(c, server);
            else
                lie_in_wait_at(c, old);
        });
    }

    // As if there had been nearly as many nodes in a queue as a parent can count.
    void age_a_queue()
    {
        using zookeeper_store::wire::operation;
        const std::string queue = queue_judge::queue_of("r0");
        auto created = [this, zxid = std::int64_t(0)](
                           const std::string& path, std::int32_t creations) mutable {
            servers_.commit({{.what = operation::create_container,
                                 .zxid = ++zxid,
                                 .path = path,
                                 .creations = creations},
                0, 0});
        };
        created("/holdfast", 1);
        created(queue, 1);
        created(queue + "/old", std::numeric_limits<std::int32_t>::max() -
                                    static_cast<std::int32_t>(w.random.below(50)));
        servers_.commit({{.what = operation::remove, .zxid = 4, .path = queue + "/old"}, 0, 0});
    }

    // Ephemeral nodes of the root prove sessions.
    void check_when_idle() override
    {
        for (const auto& [path, node] : servers_.truth().nodes()) {
            if (path.find("-lock-") != path.npos)
                w.violation("a node is left in a queue: " + path);
        }
    }
    void check_when_closed() override
    {
        if (!servers_.truth().sessions().empty())
            w.violation("a session is left");
        for (const auto& [path, node] : servers_.truth().nodes()) {
            if (node.owner != 0)
                w.violation("a node is left: " + path);
        }
    }

    const theme theme_;
    ensemble servers_;
    queue_judge queues_;
    std::deque<client> all_;
    std::deque<foreign_client> foreign_;
};

} // namespace

store_simulation::result simulate(std::uint64_t seed, bool aged)
{
    return zookeeper_world(seed, aged).run();
}

} // namespace holdfast::zookeeper_simulation

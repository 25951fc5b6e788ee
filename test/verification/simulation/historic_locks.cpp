#include "verification/simulation/historic_locks.hpp"

#include "verification/simulation/historic_lock.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace holdfast::simulation {

namespace {

using core::time_point;

std::int64_t ms_of(time_point t)
{
    return std::chrono::floor<std::chrono::milliseconds>(t.time_since_epoch()).count();
}

// A process that crashes or loses its connection between the two commands leaves a key that never
// expires.
class setnx_then_expire final : public historic_protocol {
    void take(historic_connection& node, const std::string& key, const std::string& token,
        std::int64_t ttl, time_point, taken then) override
    {
        node.send({"SETNX", key, token}, [=, &node](const answer& a, time_point at) {
            if (a.lost || a.number != 1)
                return then(false, at);
            node.send({"PEXPIRE", key, std::to_string(ttl)},
                [=](const answer& e, time_point later) { then(e.number == 1, later); });
        });
    }
};

// The value is the time until which the lock is held, by the clock of the client that wrote it.
class getset_of_timestamps final : public historic_protocol {
    std::string token(core::entropy&, time_point) override { return {}; }

    void take(historic_connection& node, const std::string& key, const std::string&,
        std::int64_t ttl, time_point now, taken then) override
    {
        const std::string until = std::to_string(ms_of(now) + ttl + 1);
        node.send({"SETNX", key, until}, [=, &node](const answer& a, time_point at) {
            if (a.lost || a.error || a.number == 1)
                return then(a.number == 1, at);
            node.send({"GET", key}, [=, &node](const answer& seen, time_point later) {
                const std::string old = seen.text;
                if (seen.lost || seen.error || old.empty() || std::stoll(old) > ms_of(later))
                    return then(false, later);
                node.send({"GETSET", key, until},
                    [=](const answer& last, time_point end) { then(last.text == old, end); });
            });
        });
    }

    void give_back(historic_connection& node, const std::string& key, const std::string&) override
    {
        node.send({"DEL", key}, {});
    }
};

// A late holder deletes another client's lock.
class plain_delete final : public historic_protocol {
    void give_back(historic_connection& node, const std::string& key, const std::string&) override
    {
        node.send({"DEL", key}, {});
    }
};

// Two clients that ask in the same second mistake the other's key for their own.
class timestamp_as_value final : public historic_protocol {
    std::string token(core::entropy&, time_point now) override
    {
        return std::to_string(ms_of(now) / 1000);
    }
};

// Between the two commands another client may acquire the lock.
class get_then_delete final : public historic_protocol {
    void give_back(
        historic_connection& node, const std::string& key, const std::string& token) override
    {
        node.send({"GET", key}, [=, &node](const answer& a, time_point) {
            if (!a.lost && a.text == token)
                node.send({"DEL", key}, {});
        });
    }
};

template <class Protocol>
std::unique_ptr<subject> make(const subject_settings& settings)
{
    return std::make_unique<historic_lock>(settings, std::make_unique<Protocol>());
}

constexpr std::array<known_lock, 7> locks{{
    {"holdfast", "the library, as it ships", false, make_shipped_lock},
    {"setnx-expire", "SETNX, then EXPIRE", true, make<setnx_then_expire>},
    {"getset", "GETSET of timestamps", true, make<getset_of_timestamps>},
    {"plain-delete", "SET NX PX, then a plain DEL", true, make<plain_delete>},
    {"timestamp", "the time in seconds as the value", true, make<timestamp_as_value>},
    {"get-delete", "GET, then DEL, without a script", true, make<get_then_delete>},
    {"textbook", "SET NX PX, deletion by script", false, make<historic_protocol>},
}};

void restrict_to_one_node(plan& p)
{
    p.nodes = 1;
    p.slow_nodes = 0;
    p.node_ppm.resize(1);
    p.faulty_nodes = std::min<std::size_t>(p.faulty_nodes, 1);
    p.given.majority_is_well = false;
    p.terms.renews = false;
    p.queue = false;
    p.clocks_agree = true;                         // the clients' clocks
    std::erase(p.faults, fault::client_suspended); // a clock that stands still is another flaw
}

} // namespace

std::span<const known_lock> known_locks()
{
    return locks;
}

experiment experiment_with(std::string_view name)
{
    const auto found = std::find_if(
        locks.begin(), locks.end(), [&](const known_lock& each) { return each.name == name; });
    if (found == locks.end())
        throw std::invalid_argument("no lock has the name " + std::string(name));
    if (found == locks.begin())
        return {.make_subject = found->make, .restrict_plan = {}};
    return {.make_subject = found->make,
        .fenced = experiment::fenced_worlds::none,
        .restrict_plan = restrict_to_one_node};
}

} // namespace holdfast::simulation

#include "support/redis_cluster.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t slots = 16'384;
constexpr auto bus_option = "--cluster-port", tls_option = "--tls-port";

template <class Condition>
void wait_for(const std::string& what, Condition condition)
{
    const auto deadline = std::chrono::steady_clock::now() + 60s; // generous: busy machines
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline)
            throw std::runtime_error("it takes too long until " + what);
        std::this_thread::sleep_for(5ms);
    }
}

std::size_t first_slot_of(std::size_t primary)
{
    return primary * slots / redis_cluster_servers::primaries;
}

void expect_ok(redis_server& server, const std::vector<std::string>& words)
{
    const std::string said = server.command(words);
    if (said != "OK")
        throw std::runtime_error(words[0] + " " + words[1] + ": " + said);
}

} // namespace

redis_cluster_servers::redis_cluster_servers(
    std::size_t replicas, const std::vector<std::string>& arguments, const std::string& password)
{
    start(primaries + replicas, arguments, password, false);
    join_all();
    for (std::size_t i = 0; i < replicas; ++i) {
        redis_server& replica = members[primaries + i];
        expect_ok(replica, {"CLUSTER", "REPLICATE", id_of(i)});
        wait_for("a replica has the data", [&] {
            const std::string info = replica.command({"INFO", "replication"});
            return info.find("master_link_status:up") != info.npos;
        });
    }
    wait_for("the members agree again", [&] { return all_members_agree(); });
}

redis_cluster_servers::redis_cluster_servers(const tls_files& files)
{
    start(primaries,
        {"--tls-cluster", "yes", "--tls-auth-clients", "no", "--tls-cert-file", files.certificate,
            "--tls-key-file", files.key, "--tls-ca-cert-file", files.authority},
        {}, true);
    join_all();
}

void redis_cluster_servers::start(std::size_t count, const std::vector<std::string>& arguments,
    const std::string& password, bool with_tls)
{
    std::vector<std::string> all{"--cluster-enabled", "yes", "--cluster-node-timeout", "2000",
        "--repl-diskless-sync-delay", "0"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<std::string> more_ports{bus_option};
    if (with_tls)
        more_ports.emplace_back(tls_option);
    while (members.size() < count) {
        const redis_server& added = members.emplace_back(all, more_ports);
        bus_ports_.push_back(added.port_of(bus_option));
        if (with_tls)
            tls_ports_.push_back(added.port_of(tls_option));
        if (!password.empty())
            expect_ok(members.back(), {"AUTH", password});
    }
}

void redis_cluster_servers::join_all()
{
    for (std::size_t i = 0; i < members.size(); ++i) {
        expect_ok(members[i], {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
        if (i < primaries)
            expect_ok(members[i], {"CLUSTER", "ADDSLOTSRANGE", std::to_string(first_slot_of(i)),
                                      std::to_string(first_slot_of(i + 1) - 1)});
    }
    for (std::size_t i = 1; i < members.size(); ++i)
        expect_ok(members[0],
            {"CLUSTER", "MEET", "127.0.0.1", port_of(i), std::to_string(bus_ports_[i])});
    wait_for("the members agree", [&] { return all_members_agree(); });
}

std::vector<endpoint> redis_cluster_servers::tls_seeds() const
{
    std::vector<endpoint> all;
    for (const std::uint16_t port : tls_ports_)
        all.emplace_back("rediss://127.0.0.1:" + std::to_string(port));
    return all;
}

std::string redis_cluster_servers::port_of(std::size_t member) const
{
    return std::to_string(tls_ports_.empty() ? members[member].port() : tls_ports_[member]);
}

bool redis_cluster_servers::all_members_agree()
{
    const std::string known = "cluster_known_nodes:" + std::to_string(members.size()) + "\r";
    return std::all_of(members.begin(), members.end(), [&](redis_server& each) {
        const std::string info = each.command({"CLUSTER", "INFO"});
        return info.find("cluster_state:ok") != info.npos && info.find(known) != info.npos;
    });
}

std::string redis_cluster_servers::slot_of(const std::string& key)
{
    return members[0].command({"CLUSTER", "KEYSLOT", key});
}

std::size_t redis_cluster_servers::first_owner(const std::string& key)
{
    const std::size_t slot = std::stoul(slot_of(key));
    std::size_t owner = 0;
    while (slot >= first_slot_of(owner + 1))
        ++owner;
    return owner;
}

std::string redis_cluster_servers::name_at(std::size_t primary, const std::string& prefix)
{
    for (int i = 0;; ++i) {
        std::string name = prefix + std::to_string(i);
        if (first_owner(name) == primary)
            return name;
    }
}

std::string redis_cluster_servers::id_of(std::size_t member)
{
    return members[member].command({"CLUSTER", "MYID"});
}

bool redis_cluster_servers::has_key(std::size_t member, const std::string& key)
{
    std::istringstream keys(
        members[member].command({"CLUSTER", "GETKEYSINSLOT", slot_of(key), "100"}));
    for (std::string name; std::getline(keys, name);) {
        if (name == key)
            return true;
    }
    return false;
}

void redis_cluster_servers::begin_move(const std::string& key, std::size_t from, std::size_t to)
{
    const std::string slot = slot_of(key);
    expect_ok(members[to], {"CLUSTER", "SETSLOT", slot, "IMPORTING", id_of(from)});
    expect_ok(members[from], {"CLUSTER", "SETSLOT", slot, "MIGRATING", id_of(to)});
}

void redis_cluster_servers::move_keys(const std::string& key, std::size_t from, std::size_t to)
{
    const std::string slot = slot_of(key);
    for (;;) {
        std::istringstream keys(members[from].command({"CLUSTER", "GETKEYSINSLOT", slot, "100"}));
        std::vector<std::string> move{
            "MIGRATE", "127.0.0.1", port_of(to), "", "0", "5000", "REPLACE", "KEYS"};
        const std::size_t words = move.size();
        for (std::string name; std::getline(keys, name);)
            move.push_back(name);
        if (move.size() == words || move.back() == "(nil)" || move.back().empty())
            break;
        members[from].command(move); // NOKEY: it has expired meanwhile
    }
}

void redis_cluster_servers::end_move(const std::string& key, std::size_t from, std::size_t to)
{
    move_keys(key, from, to);
    const std::string slot = slot_of(key);
    for (const std::size_t each : {to, from})
        expect_ok(members[each], {"CLUSTER", "SETSLOT", slot, "NODE", id_of(to)});
}

} // namespace holdfast::test

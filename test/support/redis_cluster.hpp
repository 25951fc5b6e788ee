#pragma once

#include "support/redis_server.hpp"

#include <holdfast/endpoint.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::test {

/// A real Redis Cluster of three primaries on free loopback ports, with all slots.
class redis_cluster_servers {
public:
    /// Returns when all members agree. `replicas`: the first primaries have one each.
    /// `arguments`: of each server. `password`: that they have set, if any.
    explicit redis_cluster_servers(std::size_t replicas = 0,
        const std::vector<std::string>& arguments = {}, const std::string& password = {});

    /// PEM files.
    struct tls_files {
        std::string certificate, key, authority;
    };
    /// The same with a second port for TLS at each member, which the members use as well.
    explicit redis_cluster_servers(const tls_files& files);

    static constexpr std::size_t primaries = 3;

    std::vector<endpoint> seeds() const { return endpoints(members); }
    /// The same over TLS.
    std::vector<endpoint> tls_seeds() const;
    /// The index of the primary that had the slot of a key at the start.
    std::size_t first_owner(const std::string& key);
    /// The name of a key in the slots that this primary had at the start.
    std::string name_at(std::size_t primary, const std::string& prefix);
    std::string id_of(std::size_t member);
    /// Whether the member stores this key, even if another member owns its slot.
    bool has_key(std::size_t member, const std::string& key);

    /// Begins to move the slot of a key: until end_move(), neither primary serves it alone.
    void begin_move(const std::string& key, std::size_t from, std::size_t to);
    /// Moves the keys of that slot, and not the slot.
    void move_keys(const std::string& key, std::size_t from, std::size_t to);
    /// Moves the keys of that slot, then the slot.
    void end_move(const std::string& key, std::size_t from, std::size_t to);

    std::vector<redis_server> members; ///< first the primaries, then their replicas

private:
    void start(std::size_t count, const std::vector<std::string>& arguments,
        const std::string& password, bool with_tls);
    void join_all();
    // For the other members.
    std::string port_of(std::size_t member) const;

    std::string slot_of(const std::string& key);
    bool all_members_agree();

    std::vector<std::uint16_t> bus_ports_, tls_ports_; // the latter empty without TLS
};

} // namespace holdfast::test

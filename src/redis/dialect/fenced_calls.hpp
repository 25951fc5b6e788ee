#pragma once

#include "redis/claim/claim.hpp"
#include "redis/dialect/fence_settings.hpp"
#include "redis/dialect/key_names.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::redis {

// The encoded requests of fenced mode that plain mode does not have, or has in another form: see
// fence_scripts.hpp.
class fenced_calls {
public:
    // `key_prefix`: of every key.
    explicit fenced_calls(const fence_settings& settings, std::string_view key_prefix = {});

    // The names of fenced mode.
    static key_names names(std::string_view key_prefix = {});
    // The counter of a resource.
    static std::string counter_of(std::string_view key_prefix, std::string_view resource);
    // From the name of a lock, that of its counter.
    void name_counter(std::string& out, std::string_view lock) const;
    // The record of a node.
    const std::string& record() const noexcept { return record_; }

    // What every request for a lock contains. `floor`: the least token wanted; `block`: how many.
    struct wanted {
        std::string_view lock, token;
        core::duration ttl{};
        std::uint64_t floor = 0, block = 1;
        bool by_text = false;
    };

    // To several nodes: first the part that is the same for all, then the rest for each.
    void begin_ask(std::string& out, const wanted& w);
    void end_ask(std::string& out, std::string_view run_id) const;

    // For a lock that was handed off to us.
    void confirm(std::string& out, const wanted& w, std::string_view run_id);

    struct place {
        std::string_view name; // see scripts.hpp
        core::duration queue_ttl{}, hand_over_ttl{};
        bool again = false; // we are in the queue already
    };
    void enqueue(std::string& out, const wanted& w, std::string_view run_id, const place& p);

    // Grants nothing: asks whether the node would grant, and for its clock. If the node may have
    // forgotten something, its quarantine begins with this request at the latest.
    void probe(std::string& out, std::string_view run_id);

    void write_back(
        std::string& out, const claim& c, const token_round::write_back& r, bool by_text);

    // The head of a renewal of so many claims; then the keys of each, then the arguments of each.
    void begin_renew(std::string& out, std::size_t claims, bool by_text) const;
    void renew_keys(std::string& out, const claim& c);
    void renew_limits(std::string& out) const;
    static void renew_arguments(std::string& out, const claim& c);

private:
    void begin_acquire(std::string& out, std::string_view mode, const wanted& w, std::size_t more);
    void append_node(std::string& out, std::string_view run_id) const;

    std::string agreed_, quarantine_, ahead_, furthest_, lifetime_, trust_;
    std::string lock_prefix_, counter_prefix_, record_;
    key_names names_;
    std::string name_; // of the key that is being encoded
    std::size_t shared_ = 0;
};

} // namespace holdfast::redis

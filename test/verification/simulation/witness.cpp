#include "verification/simulation/witness.hpp"

#include "redis/node/fence_scripts.hpp"

#include <string>

namespace holdfast::simulation {

namespace {

std::size_t number_in(std::string_view text)
{
    return static_cast<std::size_t>(std::stoul(std::string(text)));
}

} // namespace

std::optional<std::string> witness::lock_named(std::string_view key)
{
    constexpr std::string_view lock = "hf:l:";
    if (key == redis::record_key || key.starts_with("hf:f:") || key.ends_with(redis::window_suffix))
        return std::nullopt;
    return std::string(key.starts_with(lock) ? key.substr(lock.size()) : key);
}

void witness::restarted(const test::redis_model& model)
{
    test::redis_model::data locks(1);
    for (const auto& [key, item] : model.contents()[0]) {
        if (const auto lock = lock_named(key))
            locks[0].emplace(*lock, item);
    }
    referee_.keys_restored(node_, locks);
}

void witness::before(test::redis_model::arguments command, const test::redis_model& model,
    test::redis_model::time wall)
{
    const std::string_view name = command.front();
    const bool script = name.starts_with("EVAL") && command.size() > 2;
    const auto calls = [&](const redis::script& s) {
        return script && (command[1] == s.digest || command[1] == s.text);
    };
    is_set_ = name == "SET";
    asks_ = false;
    const bool acquires = calls(redis::fenced_acquire_script);
    passes_on_ = calls(redis::pass_on_script) || calls(redis::enqueue_script) || acquires;
    may_make_keys_ =
        !script || calls(redis::enqueue_script) || calls(redis::join_script) || acquires;
    if (name == "SET" && command.size() > 2) {
        const auto found = tokens_.try_emplace(std::string(command[2])).first;
        seen_token& token = found->second;
        ++token.sets;
        const auto* const there = model.find(std::string(command[1]), wall);
        const bool refused =
            model.state != test::redis_model::trouble::none ||
            (there != nullptr && (there->value != command[2] || token.handed_over));
        token.missed += refused ? 1u : 0u;
        if (token.sets > 1 + token.missed)
            referee_.fail(property::clean_up,
                "node " + std::to_string(node_) + " was sent the same SET again: " + found->first);
    } else if (acquires) {
        fenced_acquire(command, model, wall);
    } else if (calls(redis::renew_script)) {
        const std::size_t keys = number_in(command[2]);
        renewal(command.subspan(3, keys), 1, command.subspan(3 + keys), 2, model, wall);
    } else if (calls(redis::fenced_renew_script)) {
        const std::size_t keys = number_in(command[2]);
        renewal(command.subspan(3, keys), 2, command.subspan(5 + keys), 3, model, wall);
    } else if (calls(redis::pass_on_script)) {
        referee_.given_back(node_, *lock_named(command[3]), command[3 + number_in(command[2])]);
    }
}

// A node that has granted the lock to an owner token is not asked for that grant again, unless it
// has reported since that the key is gone.
void witness::fenced_acquire(test::redis_model::arguments command, const test::redis_model& model,
    test::redis_model::time wall)
{
    if (command.size() < 9)
        return;
    const std::string token(command[8]);
    seen_token& seen = tokens_[token];
    if (command[7] != "ask") {
        const auto* const there = model.find(std::string(command[3]), wall);
        seen.missed += there != nullptr && there->value == token ? 0u : 1u;
        return;
    }
    is_set_ = asks_ = true;
    if (model.state == test::redis_model::trouble::none && seen.sets > seen.missed)
        referee_.fail(property::clean_up,
            "node " + std::to_string(node_) + " was asked again for what it had granted: " + token);
}

// Per lock there are `keys_each` keys and `values_each` arguments; the first argument is the owner
// token.
void witness::renewal(test::redis_model::arguments keys, std::size_t keys_each,
    test::redis_model::arguments values, std::size_t values_each, const test::redis_model& model,
    test::redis_model::time wall)
{
    for (std::size_t i = 0; i < keys.size() / keys_each; ++i) {
        const std::string_view token = values[values_each * i];
        const auto* const item = model.find(std::string(keys[keys_each * i]), wall);
        if (item == nullptr || item->value != token)
            ++tokens_.try_emplace(std::string(token)).first->second.missed;
    }
}

void witness::key_changed(
    const std::string& key, const test::redis_model::item* item, test::redis_model::time wall)
{
    const auto lock = lock_named(key);
    if (!lock)
        return;
    if (item != nullptr && !is_set_)
        tokens_[item->value].handed_over = true;
    else if (item != nullptr && asks_)
        ++tokens_[item->value].sets;
    const bool made = referee_.key_changed(node_, *lock, item, wall, passes_on_ || accident_);
    if (made && !may_make_keys_)
        referee_.fail(property::clean_up,
            "node " + std::to_string(node_) + ": a script has created the key " + key);
}

} // namespace holdfast::simulation

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
    if (key == redis::record_key || key == redis::registers_key || key.starts_with("hf:w:") ||
        key.ends_with(redis::window_suffix))
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
    passes_on_ =
        calls(redis::pass_on_script) || calls(redis::enqueue_script) || calls(redis::baton_script);
    may_make_keys_ = !script || calls(redis::enqueue_script) || calls(redis::join_script) ||
                     calls(redis::untrack_script);
    if (name == "SET" && command.size() > 2) {
        set(command, model, wall);
    } else if (calls(redis::renew_script)) {
        const std::size_t keys = number_in(command[2]);
        renewal(command.subspan(3, keys), command.subspan(3 + keys), model, wall);
    } else if (calls(redis::enqueue_script)) {
        places_.insert_or_assign(std::string(command[5 + number_in(command[2])]), time_.now());
    } else if (calls(redis::join_script)) {
        places_.insert_or_assign(std::string(command[3 + number_in(command[2])]), time_.now());
    } else if (calls(redis::pass_on_script)) {
        referee_.given_back(node_, *lock_named(command[3]), command[3 + number_in(command[2])]);
    }
}

void witness::check_places(
    nanoseconds since, const test::redis_model& model, test::redis_model::time wall) const
{
    for (const auto& [key, item] : model.contents()[0]) {
        if (!key.ends_with(redis::queue_suffix) || model.find(key, wall) == nullptr)
            continue;
        for (const auto& [score, place] : item.members.all()) {
            const auto asked = places_.find(place);
            if (asked != places_.end() && asked->second >= since)
                referee_.fail(property::clean_up,
                    "node " + std::to_string(node_) + " still has the place " + place + " in " +
                        key + ", asked for at " + in_ms(asked->second));
        }
    }
}

void witness::set(test::redis_model::arguments command, const test::redis_model& model,
    test::redis_model::time wall)
{
    const auto found = tokens_.try_emplace(std::string(command[2])).first;
    seen_token& token = found->second;
    ++token.sets;
    const auto* const there = model.find(std::string(command[1]), wall);
    const bool refused = model.state != test::redis_model::trouble::none ||
                         (there != nullptr && (there->value != command[2] || token.handed_over));
    token.missed += refused ? 1u : 0u;
    if (token.sets > 1 + token.missed)
        referee_.fail(property::clean_up,
            "node " + std::to_string(node_) + " was sent the same SET again: " + found->first);
}

void witness::renewal(test::redis_model::arguments keys, test::redis_model::arguments values,
    const test::redis_model& model, test::redis_model::time wall)
{
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::string_view token = values[2 * i];
        const auto* const item = model.find(std::string(keys[i]), wall);
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
    const bool made = referee_.key_changed(node_, *lock, item, wall, passes_on_ || accident_);
    if (made && !may_make_keys_)
        referee_.fail(property::clean_up,
            "node " + std::to_string(node_) + ": a script has created the key " + key);
}

} // namespace holdfast::simulation

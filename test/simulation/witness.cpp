#include "simulation/witness.hpp"

#include "redlock/scripts.hpp"

namespace holdfast::simulation {

void witness::before(test::redis_model::arguments command, const test::redis_model& model,
    test::redis_model::time wall)
{
    const std::string_view name = command.front();
    const bool script = name.starts_with("EVAL") && command.size() > 2;
    const auto calls = [&](const redis::script& s) {
        return script && (command[1] == s.digest || command[1] == s.text);
    };
    is_set_ = name == "SET";
    passes_on_ = calls(redis::pass_on_script) || calls(redis::enqueue_script);
    may_make_keys_ = !script || calls(redis::enqueue_script);
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
    } else if (calls(redis::renew_script)) {
        renewal(command, model, wall);
    } else if (calls(redis::pass_on_script) && command.size() > 5) {
        referee_.given_back(node_, std::string(command[3]), command[5]);
    }
}

void witness::renewal(test::redis_model::arguments command, const test::redis_model& model,
    test::redis_model::time wall)
{
    const std::size_t keys = static_cast<std::size_t>(std::stoul(std::string(command[2])));
    for (std::size_t i = 0; i < keys; ++i) {
        const std::string_view token = command[3 + keys + 2 * i];
        const auto* const item = model.find(std::string(command[3 + i]), wall);
        if (item == nullptr || item->value != token)
            ++tokens_.try_emplace(std::string(token)).first->second.missed;
    }
}

void witness::key_changed(
    const std::string& key, const test::redis_model::item* item, test::redis_model::time wall)
{
    if (item != nullptr && !is_set_)
        tokens_[item->value].handed_over = true;
    const bool made = referee_.key_changed(node_, key, item, wall, passes_on_);
    if (made && !may_make_keys_)
        referee_.fail(property::clean_up,
            "node " + std::to_string(node_) + ": a script has made the key " + key);
}

} // namespace holdfast::simulation

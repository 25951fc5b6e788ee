#include "redis/dialect/fenced_calls.hpp"

#include "redis/node/fence_scripts.hpp"
#include "redis/node/script_call.hpp"
#include "resp/command.hpp"

namespace holdfast::redis {

namespace {

std::string with(std::string_view key_prefix, std::string_view name)
{
    return std::string(key_prefix).append(name);
}

} // namespace

fenced_calls::fenced_calls(const fence_settings& settings, std::string_view key_prefix)
    : pause_(std::to_string(in_ms(settings.pause()))),
      agreed_(std::to_string(in_ms(settings.quarantine)) + " " +
              std::to_string(in_ms(settings.ahead)) + " " + std::to_string(redis::registers)),
      trust_(settings.first_deployment      ? "first"
             : settings.trusted_persistence ? "kept"
                                            : ""),
      record_(with(key_prefix, record_key)),
      registers_(registers_of(key_prefix)),
      ballot_head_(resp::encoded_head({"ZADD", registers_, "XX", "GT", "CH"}, 2))
{}

key_forms fenced_calls::names(std::string_view key_prefix)
{
    return {.lock_prefix = with(key_prefix, "hf:l:"),
        .queue_prefix = with(key_prefix, "hf:q:"),
        .window_prefix = with(key_prefix, "hf:w:")};
}

std::string fenced_calls::registers_of(std::string_view key_prefix)
{
    return with(key_prefix, registers_key);
}

std::size_t fenced_calls::register_of(std::uint64_t hash) noexcept
{
    return hash % redis::registers;
}

std::string_view fenced_calls::open(std::string_view run_id, std::int64_t clock_ms)
{
    const resp::decimal clock(clock_ms);
    command_.clear();
    resp::append_command(command_, {"EVAL", open_script.text, "2", record_, registers_, agreed_,
                                       run_id, pause_, clock.view(), trust_});
    return command_;
}

std::string_view fenced_calls::read_record()
{
    command_.clear();
    resp::append_command(command_, {"GET", record_});
    return command_;
}

std::string_view fenced_calls::time()
{
    command_.clear();
    resp::append_command(command_, {"TIME"});
    return command_;
}

std::string_view fenced_calls::ballot(std::uint64_t hash, std::uint64_t ballot)
{
    const resp::decimal score(static_cast<std::int64_t>(ballot));
    const resp::decimal member(static_cast<std::int64_t>(register_of(hash)));
    ballot_.clear();
    resp::append_command(ballot_, ballot_head_, {score.view(), member.view()});
    return ballot_;
}

std::string_view fenced_calls::largest_ballot(std::uint64_t hash)
{
    const resp::decimal member(static_cast<std::int64_t>(register_of(hash)));
    command_.clear();
    resp::append_command(command_, {"ZSCORE", registers_, member.view()});
    return command_;
}

} // namespace holdfast::redis

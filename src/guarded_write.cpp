#include <holdfast/guarded_write.hpp>

#include "resp/command.hpp"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <utility>

namespace holdfast {
namespace {

// whole() converts a string of digits to a number if Lua can represent it exactly. A longer string
// is rounded, but never to less than 2^53. `tonumber` alone would also accept spaces, fractions and
// hexadecimal digits.
constexpr std::string_view check_token =
    "local function whole(s) "
    "local n=string.match(s,'^%d+$') and tonumber(s) "
    "return n and n<9007199254740992 and n "
    "end "
    "local token=whole(ARGV[1]) "
    "if not token or token==0 then "
    "return redis.error_reply('BADFENCE the token is no whole number from 1 to 2^53-1') end "
    "local stored=redis.pcall('get',KEYS[1]) "
    "if type(stored)=='table' then return stored end "
    "local last=0 "
    "if stored then last=whole(stored) end "
    "if not last then "
    "return redis.error_reply('BADFENCE what the fence key holds is no token') end "
    "if token<last then "
    "return redis.error_reply('FENCED a later holder was here, with token '..stored) end ";

// The token is stored before the work: even if the work fails half-way, no earlier holder can write
// after it.
constexpr std::string_view store_token =
    "if token>last then redis.call('set',KEYS[1],ARGV[1]) end ";

// The other keys are checked before anything is written.
constexpr std::string_view check_value = "local value=redis.pcall('get',KEYS[2]) "
                                         "if type(value)=='table' then return value end ";
constexpr std::string_view check_type = "local length=redis.pcall('strlen',KEYS[2]) "
                                        "if type(length)=='table' then return length end ";
// DECRBY would refuse leading zeros.
constexpr std::string_view check_stock =
    "local amount,left=whole(ARGV[2]),0 "
    "if value then left=whole(value) end "
    "if not amount or not left or (value and value~=string.format('%.0f',left)) then "
    "return redis.error_reply('BADSTOCK the amount or the stock is no whole number "
    "from 0 to 2^53-1') end ";

constexpr std::string_view get = "return value";
constexpr std::string_view set = "return redis.call('set',KEYS[2],ARGV[2])";
constexpr std::string_view take = "if left<amount then return -1 end "
                                  "return redis.call('decrby',KEYS[2],"
                                  "string.format('%.0f',amount))";

std::string digits_of(std::optional<std::uint64_t> token)
{
    if (!token)
        throw std::invalid_argument("the lease has no fencing token: fencing is off");
    if (*token == 0 || *token > largest_guarded_number)
        throw std::invalid_argument("a fencing token must be 1 to 2^53 - 1");
    return std::to_string(*token);
}

guarded_write make(std::string fence_key, std::optional<std::uint64_t> token,
    std::vector<std::string> keys, std::vector<std::string> arguments,
    std::initializer_list<std::string_view> work)
{
    if (std::find(keys.begin(), keys.end(), fence_key) != keys.end())
        throw std::invalid_argument(
            "the fence key must not be one of the other keys: " + fence_key);
    keys.insert(keys.begin(), std::move(fence_key));
    arguments.insert(arguments.begin(), digits_of(token));
    guarded_write made{std::string(check_token), std::move(keys), std::move(arguments)};
    for (const std::string_view part : work)
        made.script += part;
    return made;
}

} // namespace

std::vector<std::string> guarded_write::command() const
{
    std::vector<std::string> words{"EVAL", script, std::to_string(keys.size())};
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
}

std::string guarded_write::encoded() const
{
    const std::vector<std::string> words = command();
    std::string bytes;
    resp::append_array_header(bytes, words.size());
    for (const std::string& word : words)
        resp::append_blob(bytes, word);
    return bytes;
}

guarded_write guarded_get(
    std::string fence_key, std::optional<std::uint64_t> token, std::string key)
{
    return make(std::move(fence_key), token, {std::move(key)}, {}, {check_value, store_token, get});
}

guarded_write guarded_set(
    std::string fence_key, std::optional<std::uint64_t> token, std::string key, std::string value)
{
    return make(std::move(fence_key), token, {std::move(key)}, {std::move(value)},
        {check_type, store_token, set});
}

guarded_write guarded_take(std::string fence_key, std::optional<std::uint64_t> token,
    std::string key, std::uint64_t amount)
{
    if (amount > largest_guarded_number)
        throw std::invalid_argument("an amount must be 0 to 2^53 - 1");
    return make(std::move(fence_key), token, {std::move(key)}, {std::to_string(amount)},
        {check_value, check_stock, store_token, take});
}

guarded_write guarded_run(std::string fence_key, std::optional<std::uint64_t> token,
    std::string_view body, std::vector<std::string> keys, std::vector<std::string> arguments)
{
    return make(
        std::move(fence_key), token, std::move(keys), std::move(arguments), {store_token, body});
}

} // namespace holdfast

// The comparison of the replies of a real server with those of a model.
#include "verification/fidelity/twins.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::test {

namespace {

using words = twins::words;

std::string in_words(const words& command)
{
    std::string all;
    for (const std::string& word : command)
        all += (all.empty() ? "" : " ") + visible(word);
    return all;
}

// Sorts the channels in the replies to UNSUBSCRIBE without arguments, which the real server sends
// in any order.
void put_in_order(std::vector<std::string>& replies)
{
    constexpr std::string_view start =
        "3\r\n$11\r\nunsubscribe\r\n"; // and the channel, and a count
    std::vector<std::string> channels;
    const auto end_of_channel = [](const std::string& reply) {
        return reply.rfind("\r\n:");
    };
    for (const std::string& reply : replies) {
        if (reply.compare(1, start.size(), start) == 0)
            channels.push_back(
                reply.substr(1 + start.size(), end_of_channel(reply) - 1 - start.size()));
    }
    std::sort(channels.begin(), channels.end());
    auto next = channels.begin();
    for (std::string& reply : replies) {
        if (reply.compare(1, start.size(), start) == 0)
            reply.replace(1 + start.size(), end_of_channel(reply) - 1 - start.size(), *next++);
    }
}

// Compares the lines of INFO that the library reads.
bool same_lines(std::string_view real, std::string_view model)
{
    constexpr std::string_view read[]{"redis_mode", "run_id", "maxmemory", "maxmemory_policy"};
    return std::all_of(std::begin(read), std::end(read),
        [&](std::string_view name) { return line_of(real, name) == line_of(model, name); });
}

} // namespace

const std::string twins::separator = encode_command({"|"});

bool twins::is(const words& command, std::string_view name)
{
    return std::equal(command[0].begin(), command[0].end(), name.begin(), name.end(),
        [](char a, char b) { return (a | 0x20) == b; });
}

std::string twins::as_if_7_0_15(std::string reply) const
{
    const std::string version = "$" + std::to_string(version_.size()) + "\r\n" + version_;
    if (const std::size_t at = reply.find(version); at != reply.npos)
        reply.replace(at, version.size(), "$6\r\n7.0.15");
    return reply;
}

bool twins::equal(const words& command, const std::string& real, const std::string& model) const
{
    if (is(command, "hello"))
        return as_if_7_0_15(real) == model;
    // The primary of a replica and the state of its replication differ.
    if (constexpr std::string_view start = "*5\r\n$5\r\nslave\r\n$9\r\n127.0.0.1\r\n:";
        is(command, "role") && model.starts_with(start))
        return real.starts_with(start);
    // The replication offset of a restarted primary differs.
    if (constexpr std::string_view start = "*3\r\n$6\r\nmaster\r\n:";
        is(command, "role") && model.starts_with(start))
        return real.starts_with(start) && real.ends_with("\r\n*0\r\n");
    if (is(command, "info") && model.find("# ") != model.npos)
        return real[0] == model[0] && same_lines(real, model);
    return real == model;
}

bool twins::equal(
    const unit& u, std::vector<std::string> real, std::vector<std::string> model) const
{
    for (const words& command : u.commands) {
        if (command.size() == 1 && is(command, "unsubscribe")) {
            put_in_order(real);
            put_in_order(model);
        }
    }
    return std::equal(real.begin(), real.end(), model.begin(), model.end(),
        [&](const std::string& said, const std::string& told) {
            return said == told ||
                   std::any_of(u.commands.begin(), u.commands.end(),
                       [&](const words& command) { return equal(command, said, told); });
        });
}

std::string twins::ask_model(connection& to, std::span<const unit> units, random_commands& random)
{
    std::string bytes, replies;
    for (const unit& u : units) {
        for (const words& command : u.commands)
            bytes += encode_command(command);
        bytes += separator;
    }
    for (const std::string_view piece : random.pieces(bytes))
        model_.receive(to.session, piece, now_, replies);
    return replies;
}

void twins::compare(const unit& u, const std::vector<std::string>& told, const std::string& before)
{
    if (!equal(u, u.replies, told)) {
        std::string all = before;
        for (const words& command : u.commands)
            all += "\n  " + in_words(command);
        BOOST_FAIL("after" << all << "\nthe server answers " << visible(all_of(u.replies))
                           << "\nthe model answers  " << visible(all_of(told)));
    }
    compared += told.size();
    if (on_reply && u.commands.size() == 1 && !told.empty())
        on_reply(u.commands.front(), told.front());
    pushes += static_cast<std::size_t>(std::count_if(
        told.begin(), told.end(), [](const auto& reply) { return reply.starts_with('>'); }));
}

void twins::compare(connection& to, std::span<const unit> units, random_commands& random)
{
    const auto replies = replies_in(ask_model(to, units, random));
    auto next = replies.begin();
    std::string before;
    for (const unit& u : units) {
        const auto end = std::find(next, replies.end(), separated);
        BOOST_REQUIRE(end != replies.end());
        compare(u, {next, end}, before);
        next = end + 1;
        for (const words& command : u.commands)
            before += "\n  " + in_words(command);
    }
}

} // namespace holdfast::test

#include "redis/inspection/client_text.hpp"

#include "resp/number.hpp"

#include <holdfast/version.hpp>

#include <algorithm>
#include <chrono>
#include <limits>

namespace holdfast::redis {

namespace {

constexpr std::string_view first_line = "holdfast client";
constexpr std::string_view channel_prefix = "holdfast:";
constexpr std::size_t longest_text = 128;

std::string plain(std::string_view text)
{
    std::string out(text.substr(0, longest_text));
    std::replace_if(
        out.begin(), out.end(),
        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
    return out;
}

void add(std::string& out, std::string_view name, std::string_view value)
{
    out.append(name).append("=").append(plain(value)).append("\n");
}

// A number from 0 to `most`, else 0.
std::int64_t number_in(std::string_view text, std::int64_t most)
{
    std::int64_t number = 0;
    return resp::parse_integer(text, number) && number >= 0 && number <= most ? number : 0;
}

void take(client_details& to, std::string_view name, std::string_view value)
{
    constexpr auto most_pid = std::numeric_limits<std::uint32_t>::max();
    constexpr std::int64_t most_seconds = 1'000'000'000'000; // fits a time point of any clock
    using clock = std::chrono::system_clock;
    using nanoseconds = std::chrono::nanoseconds;
    constexpr auto most = std::min(most_seconds,
        std::chrono::duration_cast<std::chrono::seconds>(nanoseconds::max()).count() - 1);
    if (name == "host")
        to.info.host = plain(value);
    else if (name == "pid")
        to.info.pid = static_cast<std::uint32_t>(number_in(value, most_pid));
    else if (name == "program")
        to.info.program = plain(value);
    else if (name == "client_name")
        to.info.client_name = plain(value);
    else if (name == "version")
        to.info.version = plain(value);
    else if (name == "started")
        to.info.started = clock::time_point(std::chrono::seconds(number_in(value, most)));
    else if (name == "channel" && value.starts_with(channel_prefix))
        to.channel = plain(value);
}

} // namespace

std::string text_of_client(
    const core::client_identity& self, std::string_view client_name, std::string_view channel)
{
    std::string out(first_line);
    out += '\n';
    add(out, "host", self.host);
    add(out, "pid", std::to_string(self.pid));
    add(out, "program", self.program);
    add(out, "client_name", client_name);
    add(out, "version", HOLDFAST_VERSION_STRING);
    add(out, "started", std::to_string(self.started));
    add(out, "channel", channel);
    return out;
}

std::optional<client_details> read_client(std::string_view text)
{
    client_details found;
    bool first = true;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (first && line != first_line)
            return std::nullopt;
        if (const std::size_t middle = line.find('='); !first && middle != line.npos)
            take(found, line.substr(0, middle), line.substr(middle + 1));
        first = false;
    }
    if (first)
        return std::nullopt;
    return found;
}

} // namespace holdfast::redis

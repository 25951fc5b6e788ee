#include "holdfast/duration.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <istream>
#include <utility>

namespace holdfast::cli {

namespace {

constexpr double longest_ms = 10.0 * 365 * 24 * 3'600'000;

constexpr std::array<std::pair<std::string_view, double>, 5> units{
    {{"ms", 1}, {"s", 1'000}, {"", 1'000}, {"m", 60'000}, {"h", 3'600'000}}};

} // namespace

std::optional<duration> parse_duration(std::string_view text)
{
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] =
        std::from_chars(text.data(), end, number, std::chars_format::fixed);
    if (error != std::errc() || !std::isfinite(number) || text.starts_with('-'))
        return std::nullopt;
    const std::string_view unit(stopped, static_cast<std::size_t>(end - stopped));
    for (const auto& [name, ms] : units) {
        if (unit == name && number * ms <= longest_ms)
            return duration{std::chrono::milliseconds(std::llround(number * ms))};
    }
    return std::nullopt;
}

std::istream& operator>>(std::istream& in, duration& out)
{
    std::string text;
    if (!(in >> text))
        return in;
    if (const auto parsed = parse_duration(text))
        out = *parsed;
    else
        in.setstate(std::ios::failbit);
    return in;
}

std::string duration_error(const std::string& text)
{
    if (parse_duration(text))
        return {};
    return "\"" + text + "\" is not a duration: write for example 500ms, 30s, 5m or 2h";
}

std::string to_text(std::chrono::milliseconds length)
{
    const auto ms = length.count();
    if (ms < 1'000)
        return std::to_string(ms) + " ms";
    const auto tenths = (ms + 50) / 100;
    const std::string whole = std::to_string(tenths / 10);
    return whole + (tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10)) + " s";
}

} // namespace holdfast::cli

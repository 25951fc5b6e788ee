#include "news.hpp"

#include <boost/json/object.hpp>

#include <utility>

namespace flash_sale_web {
namespace {

const char* name_of(news::kind what)
{
    switch (what) {
    case news::kind::info:
        return "info";
    case news::kind::fault:
        return "fault";
    case news::kind::repair:
        return "repair";
    case news::kind::harm:
        return "harm";
    }
    return "";
}

} // namespace

void news::add(kind what, std::string text)
{
    entries_.push_back({++last_, std::chrono::system_clock::now(), what, std::move(text)});
    if (entries_.size() > most)
        entries_.pop_front();
}

json::array news::since(std::uint64_t after) const
{
    json::array all;
    for (const entry& each : entries_) {
        if (each.number <= after)
            continue;
        const auto ms =
            std::chrono::duration_cast<std::chrono::milliseconds>(each.time.time_since_epoch());
        all.push_back(json::object{{"number", each.number}, {"time_ms", ms.count()},
            {"kind", name_of(each.what)}, {"text", each.text}});
    }
    return all;
}

} // namespace flash_sale_web

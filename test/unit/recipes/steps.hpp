#pragma once

#include "recipes/errand.hpp"
#include "support/times.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace holdfast::test {

inline std::string name_of(error_code why)
{
    const std::pair<errc, const char*> names[] = {{errc::contended, "contended"},
        {errc::unreachable, "unreachable"}, {errc::closed, "closed"}, {errc::too_late, "too late"},
        {errc::key_conflict, "key conflict"}};
    for (const auto& [code, name] : names) {
        if (why == code)
            return name;
    }
    return why.message();
}

/// What an errand wants, as text: "drop 3, wait 0, wake 100", times in ms.
template <class Report>
std::string said(Report make)
{
    using kind = recipes::step::kind;
    recipes::steps wanted;
    make(wanted);
    std::string text;
    for (const auto& s : wanted) {
        text += text.empty() ? "" : ", ";
        const std::string lock = std::to_string(s.lock);
        switch (s.what) {
        case kind::try_lock:
            text += "try " + lock;
            break;
        case kind::wait_lock:
            text += "wait " + lock;
            break;
        case kind::drop:
            text += "drop " + lock;
            break;
        case kind::wake:
            text += "wake " + std::to_string((s.until - start) / std::chrono::milliseconds(1));
            break;
        case kind::succeed:
            text += "succeed " + lock;
            break;
        case kind::succeed_with_all:
            text += "succeed with all";
            break;
        case kind::give_up:
            text += "give up";
            if (s.why)
                text += ": " + name_of(s.why);
            break;
        }
    }
    return text;
}

/// The leases of some locks are held, or none.
struct fixed_leases final : recipes::lease_view {
    explicit fixed_leases(bool are_held) : all(are_held) {}
    bool held(std::size_t) const override { return all; }
    bool all;
};
inline const fixed_leases no_leases{false};
inline const fixed_leases good_leases{true};

} // namespace holdfast::test

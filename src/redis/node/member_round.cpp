#include "redis/node/member_round.hpp"

#include "redis/node/primary_search.hpp"

#include <algorithm>

namespace holdfast::redis {

void member_round::begin(const slot_table& known)
{
    members_.clear();
    add(answered_);
    for (const core::address& each : known.primaries())
        add(each);
    for (const core::address& each : seeds_)
        add(each);
    next_ = 0;
    why_not_ = {};
}

void member_round::add(const core::address& where)
{
    const auto is_it = [&](const core::address& each) {
        return same(each, where);
    };
    if (!where.host.empty() && std::none_of(members_.begin(), members_.end(), is_it))
        members_.push_back(where);
}

// Waiting does not help only if each of them needs a person.
void member_round::failed(const failure& why)
{
    if (!why_not_.code ||
        (why_not_.code == condition::misconfigured && why.code != condition::misconfigured))
        why_not_.code = why.code;
    why_not_.text += why_not_.text.empty() ? "no member of the cluster has told its slots: " : ", ";
    why_not_.text += in_words(members_[next_ - 1]) + ": " + why.text;
}

} // namespace holdfast::redis

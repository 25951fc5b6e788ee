#include "support/redis_model_sorted_set.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace holdfast::test {

namespace {

constexpr std::size_t most_in_small = 256;
constexpr std::size_t groups = 1024; // about 16 registers in each

template <class Members>
auto find(Members& all, std::string_view name)
{
    return std::find_if(all.begin(), all.end(), [&](const auto& m) { return m.second == name; });
}

std::size_t number_of_group(std::string_view name)
{
    return std::hash<std::string_view>()(name) % groups;
}

void insert_in_order(std::vector<sorted_set::member>& all, sorted_set::member m)
{
    all.insert(std::upper_bound(all.begin(), all.end(), m), std::move(m));
}

} // namespace

const sorted_set::group& sorted_set::group_of(std::string_view name) const
{
    static const group nothing;
    const auto& found = groups_[number_of_group(name)];
    return found == nullptr ? nothing : *found;
}

// Copies the group if another set shares it.
sorted_set::group& sorted_set::own_group_of(std::string_view name)
{
    auto& found = groups_[number_of_group(name)];
    if (found == nullptr) {
        found = std::make_shared<group>();
        found->reserve(2 * 16'384 / groups);
    } else if (found.use_count() > 1) {
        found = std::make_shared<group>(*found);
    }
    return *found;
}

std::optional<double> sorted_set::score_of(std::string_view name) const
{
    const group& among = is_large() ? group_of(name) : small_;
    const auto found = find(among, name);
    return found == among.end() ? std::nullopt : std::optional(score_of(*found));
}

sorted_set::outcome sorted_set::put(double score, std::string_view name, const condition& c)
{
    if (!is_large() && size_ >= most_in_small)
        grow();
    const group& seen = is_large() ? group_of(name) : small_;
    const auto at = find(seen, name);
    const auto number = at - seen.begin();
    const auto old = at == seen.end() ? std::nullopt : std::optional(score_of(*at));
    if (!c.allows(old, score) || old == score)
        return outcome::same;
    order_ = nullptr;
    if (score < least_)
        settle();
    if (!old)
        numbered_ = 0;
    group& among = is_large() ? own_group_of(name) : small_;
    size_ += old ? 0u : 1u;
    if (is_large() && old) {
        among[static_cast<std::size_t>(number)].first = score;
    } else if (is_large()) {
        among.emplace_back(score, name);
    } else {
        if (old)
            among.erase(among.begin() + number);
        insert_in_order(among, {score, std::string(name)});
    }
    return old ? outcome::changed : outcome::added;
}

bool sorted_set::erase(std::string_view name)
{
    group& among = is_large() ? own_group_of(name) : small_;
    const auto found = find(among, name);
    if (found == among.end())
        return false;
    if (order_ != nullptr && (*order_)[order_->size() - size_].second != name)
        order_ = nullptr;
    among.erase(found);
    numbered_ = 0;
    --size_;
    return true;
}

const std::vector<sorted_set::member>& sorted_set::order() const
{
    if (!is_large())
        return small_;
    if (order_ == nullptr) {
        std::vector<member> all;
        all.reserve(size_);
        for (const auto& each : groups_) {
            if (each == nullptr)
                continue;
            for (const member& m : *each)
                all.emplace_back(score_of(m), m.second);
        }
        std::sort(all.begin(), all.end());
        order_ = std::make_shared<const std::vector<member>>(std::move(all));
    }
    return *order_;
}

std::vector<sorted_set::member> sorted_set::range(std::size_t first, std::size_t count) const
{
    const std::vector<member>& all = order();
    first = std::min(first, size_);
    count = std::min(count, size_ - first);
    const auto begin = all.end() - static_cast<std::ptrdiff_t>(size_ - first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

bool sorted_set::raise_numbered(double score, std::size_t count)
{
    if (size_ < count && count > most_in_small) { // so some are new
        thread_local std::map<std::size_t, sorted_set> made;
        sorted_set& whole = made[count];
        for (std::size_t i = whole.size_; i < count; ++i)
            whole.put(lowest, std::to_string(i), {});
        whole.numbered_ = count;
        const std::vector<member> before = all();
        *this = whole;
        least_ = score;
        for (const auto& [old, name] : before)
            put(old, name, {.gt = true});
        return true;
    }
    if (numbered_ != count || count == 0) {
        std::size_t changed = 0;
        for (std::size_t i = 0; i < count; ++i)
            changed += put(score, std::to_string(i), {.gt = true}) == outcome::same ? 0u : 1u;
        if (is_large() && size_ == count)
            numbered_ = count;
        return changed != 0;
    }
    if (least_ >= score || lowest_score() >= score)
        return false;
    least_ = score;
    order_ = nullptr;
    return true;
}

// Precondition: it is large.
std::optional<double> sorted_set::lowest_score() const
{
    std::optional<double> found;
    for (const auto& each : groups_) {
        if (each == nullptr)
            continue;
        for (const member& m : *each)
            found = std::min(found.value_or(score_of(m)), score_of(m));
    }
    return found;
}

// Writes to all members what they have at least.
void sorted_set::settle()
{
    for (auto& each : groups_) {
        if (each == nullptr)
            continue;
        each = std::make_shared<group>(*each);
        for (member& m : *each)
            m.first = score_of(m);
    }
    least_ = lowest;
}

void sorted_set::grow()
{
    groups_.resize(groups);
    for (member& m : small_)
        own_group_of(m.second).push_back(std::move(m));
    small_.clear();
}

} // namespace holdfast::test

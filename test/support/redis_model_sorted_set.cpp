#include "support/redis_model_sorted_set.hpp"

#include <algorithm>
#include <functional>

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
    return found == among.end() ? std::nullopt : std::optional(found->first);
}

sorted_set::outcome sorted_set::put(double score, std::string_view name, const condition& c)
{
    if (!is_large() && size_ >= most_in_small)
        grow();
    const group& seen = is_large() ? group_of(name) : small_;
    const auto at = find(seen, name);
    const auto number = at - seen.begin();
    const auto old = at == seen.end() ? std::nullopt : std::optional(at->first);
    if (!c.allows(old, score) || old == score)
        return outcome::same;
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
    among.erase(found);
    --size_;
    return true;
}

std::vector<sorted_set::member> sorted_set::range(std::size_t first, std::size_t count) const
{
    const auto part = [&](const std::vector<member>& all) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(std::min(first, all.size()));
        const auto left = static_cast<std::size_t>(all.end() - begin);
        return std::vector<member>(
            begin, begin + static_cast<std::ptrdiff_t>(std::min(count, left)));
    };
    if (!is_large())
        return part(small_);
    std::vector<member> all;
    all.reserve(size_);
    for (const auto& each : groups_) {
        if (each != nullptr)
            all.insert(all.end(), each->begin(), each->end());
    }
    std::sort(all.begin(), all.end());
    return part(all);
}

void sorted_set::grow()
{
    groups_.resize(groups);
    for (member& m : small_)
        own_group_of(m.second).push_back(std::move(m));
    small_.clear();
}

} // namespace holdfast::test

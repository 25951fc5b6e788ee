#include "core/address_race.hpp"

#include <algorithm>

namespace holdfast::core {

namespace {

// The pause between two attempts that the RFC recommends. It is shorter where the last address
// would otherwise have less than half of the time.
constexpr duration longest_pause = std::chrono::milliseconds(250);

int rank_of(const address_race::candidate& c)
{
    return c.silent ? 2 : c.good ? 0 : 1;
}

} // namespace

void address_race::begin(std::span<const candidate> all, time_point now, time_point end)
{
    begun_ = failed_ = 0;
    due_ = now;
    order_.resize(all.size());

    // Alternate between the families, beginning with the family of the first address.
    std::size_t place = 0;
    const auto take = [&](std::size_t from, bool ipv6) {
        while (from < all.size() && all[from].ipv6 != ipv6)
            ++from;
        if (from < all.size())
            order_[place++] = from;
        return from + 1;
    };
    const bool first = !all.empty() && all.front().ipv6;
    for (std::size_t of_first = 0, of_other = 0; place < all.size();) {
        of_first = take(of_first, first);
        of_other = take(of_other, !first);
    }
    std::stable_sort(order_.begin(), order_.end(),
        [&](std::size_t a, std::size_t b) { return rank_of(all[a]) < rank_of(all[b]); });
    order_.resize(std::min(order_.size(), most));

    pause_ = longest_pause;
    if (end != never && !order_.empty()) {
        const auto count = static_cast<duration::rep>(order_.size());
        pause_ = std::clamp((end - now) / (2 * count), duration(0), longest_pause);
    }
}

std::optional<std::size_t> address_race::next(time_point now)
{
    if (next_at() > now)
        return std::nullopt;
    due_ = now + pause_;
    return order_[begun_++];
}

time_point address_race::next_at() const noexcept
{
    return begun_ < order_.size() ? due_ : never;
}

void address_race::failed(time_point now) noexcept
{
    ++failed_;
    due_ = now;
}

} // namespace holdfast::core

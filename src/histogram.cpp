#include <holdfast/histogram.hpp>

namespace holdfast {

histogram::duration histogram::quantile(double q) const noexcept
{
    const double all = static_cast<double>(count());
    if (all == 0)
        return duration(0);
    const double wanted = q > 0 ? std::min(q, 1.0) * all : 0; // not a number counts as 0
    double below = 0;
    for (std::size_t i = 0; i < bounds; ++i) {
        const auto here = static_cast<double>(counts_[i]);
        if (here > 0 && below + here >= wanted) {
            const duration low = i == 0 ? duration(0) : bound(i - 1);
            const double share = (wanted - below) / here;
            const auto into = share * static_cast<double>((bound(i) - low).count());
            return low + duration(static_cast<std::int64_t>(into));
        }
        below += here;
    }
    return bound(bounds - 1);
}

} // namespace holdfast

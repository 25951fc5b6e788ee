#include "support/history.hpp"

#include <algorithm>
#include <tuple>

namespace holdfast::test {

std::vector<overlap> overlaps(std::vector<holding> history)
{
    std::sort(history.begin(), history.end(), [](const holding& a, const holding& b) {
        return std::tie(a.resource, a.from, a.until) < std::tie(b.resource, b.from, b.until);
    });
    std::vector<overlap> found;
    const holding* longest = nullptr; // the holding of this resource that ends last
    for (const holding& each : history) {
        if (longest == nullptr || longest->resource != each.resource)
            longest = &each;
        else {
            if (each.from < longest->until && each.from < each.until)
                found.push_back({*longest, each});
            if (each.until > longest->until)
                longest = &each;
        }
    }
    return found;
}

} // namespace holdfast::test

#include "verification/model/word_set.hpp"

#include <algorithm>

namespace holdfast::model {

word_set::word_set(std::size_t width) : width_(width), slots_(1u << 10) {}

// Source: the finalizer of MurmurHash3.
std::uint64_t word_set::hash(const std::uint32_t* w) const noexcept
{
    std::uint64_t h = 0;
    for (std::size_t i = 0; i < width_; ++i) {
        h = (h ^ w[i]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    h *= 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 33;
}

std::size_t word_set::bytes() const noexcept
{
    return 4 * (chunks_.size() * chunk * width_ + slots_.size());
}

word_set::place word_set::add(const words& w)
{
    if (size_ * 4 >= slots_.size() * 3)
        grow();
    const std::size_t mask = slots_.size() - 1;
    std::size_t to = hash(w.data()) & mask;
    while (slots_[to] != 0) {
        if (std::equal(w.data(), w.data() + width_, at(slots_[to] - 1)))
            return {slots_[to] - 1, false};
        to = (to + 1) & mask;
    }
    if (size_ % chunk == 0)
        chunks_.push_back(std::make_unique_for_overwrite<std::uint32_t[]>(chunk * width_));
    std::copy(w.data(), w.data() + width_, &chunks_.back()[size_ % chunk * width_]);
    slots_[to] = static_cast<std::uint32_t>(++size_);
    return {slots_[to] - 1, true};
}

void word_set::grow()
{
    std::vector<std::uint32_t> larger(slots_.size() * 2);
    slots_.swap(larger);
    larger = {};
    const std::size_t mask = slots_.size() - 1;
    for (std::uint32_t i = 0; i < size_; ++i) {
        std::size_t to = hash(at(i)) & mask;
        while (slots_[to] != 0)
            to = (to + 1) & mask;
        slots_[to] = i + 1;
    }
}

} // namespace holdfast::model

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace holdfast::model {

inline constexpr std::size_t most_words = 40;
using words = std::array<std::uint32_t, most_words>;

// A set of values that consist of the same number of words. Each has a number: 0, 1, ….
class word_set {
public:
    explicit word_set(std::size_t width);

    struct place {
        std::uint32_t number;
        bool is_new;
    };
    place add(const words& w);

    const std::uint32_t* at(std::uint32_t which) const noexcept
    {
        return &chunks_[which / chunk][which % chunk * width_];
    }
    std::size_t size() const noexcept { return size_; }
    std::size_t bytes() const noexcept;

private:
    static constexpr std::size_t chunk = 1u << 16; // values

    std::uint64_t hash(const std::uint32_t* w) const noexcept;
    void grow();

    std::size_t width_, size_ = 0;
    std::vector<std::unique_ptr<std::uint32_t[]>> chunks_;
    std::vector<std::uint32_t> slots_; // number + 1; 0: free
};

} // namespace holdfast::model

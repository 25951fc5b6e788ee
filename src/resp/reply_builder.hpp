#pragma once

#include "resp/value.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::resp {

// Puts the values of one reply together as they come, and knows when the reply is whole. Attributes
// are counted and dropped.
class reply_builder {
public:
    // The most values of a reply, aggregates and attributes included, and the most aggregates and
    // attributes in each other.
    reply_builder(std::size_t most_values, std::size_t deepest);

    void clear() noexcept
    {
        values_.clear();
        open_.clear();
        announced_ = 1;
    }

    // Adds a value that is no aggregate. True if the reply is whole now.
    bool add(const value& v)
    {
        values_.push_back(v);
        return open_.empty() || close_finished();
    }

    // Begins an aggregate or an attribute with so many elements, or pairs of them; its elements
    // follow. `type`: its type byte. Returns why it is refused, or an empty text.
    std::string_view begin(char type, std::uint64_t declared);
    // After begin(): whether the reply is whole, because the aggregate has no elements.
    bool is_whole() const noexcept { return is_whole_; }

    std::span<const value> values() const noexcept { return values_; }

    // The texts were moved from `from` to `to`.
    void move_texts(const char* from, const char* to) noexcept;

private:
    // With missing elements.
    struct open_aggregate {
        std::uint32_t missing;
        bool is_attribute;
        std::size_t first; // index into values_ of its first element
    };

    bool close_finished();

    std::size_t most_values_, deepest_;
    std::size_t announced_ = 1; // values that have arrived or are expected
    bool is_whole_ = false;
    std::vector<value> values_;
    std::vector<open_aggregate> open_;
};

} // namespace holdfast::resp

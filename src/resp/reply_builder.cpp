#include "resp/reply_builder.hpp"

#include <algorithm>
#include <limits>

namespace holdfast::resp {

namespace {

constexpr value_kind aggregate_kind(char type)
{
    if (type == '*')
        return value_kind::array;
    return type == '%' ? value_kind::map : type == '~' ? value_kind::set : value_kind::push;
}

} // namespace

// value::count must be able to hold the number of elements.
reply_builder::reply_builder(std::size_t most_values, std::size_t deepest)
    : most_values_(
          std::clamp<std::size_t>(most_values, 1, std::numeric_limits<std::uint32_t>::max())),
      deepest_(deepest)
{}

std::string_view reply_builder::begin(char type, std::uint64_t declared)
{
    if (type == '>' && !open_.empty())
        return "a push inside a reply";
    if (open_.size() >= deepest_)
        return "values nested too deeply";

    // An attribute counts as a value of its own, in addition to the value that it describes.
    const bool is_attribute = type == '|';
    const std::uint64_t own = is_attribute ? 1 : 0;
    const std::uint64_t each = is_attribute || type == '%' ? 2 : 1;
    const std::uint64_t spare = most_values_ - announced_;
    if (own > spare || declared > (spare - own) / each)
        return "a reply with too many elements";
    announced_ += static_cast<std::size_t>(own + declared * each);

    const auto count = static_cast<std::uint32_t>(declared * each);
    if (!is_attribute)
        values_.push_back({aggregate_kind(type), count, 0, {}});
    if (count != 0)
        open_.push_back({count, is_attribute, values_.size()});
    is_whole_ = count == 0 && !is_attribute && close_finished();
    return {};
}

// Called when an element is complete. Closes the aggregates that are complete with it. True if no
// other is missing an element.
bool reply_builder::close_finished()
{
    while (!open_.empty()) {
        open_aggregate& innermost = open_.back();
        if (--innermost.missing != 0)
            return false;
        const open_aggregate finished = innermost;
        open_.pop_back();
        if (finished.is_attribute) {
            // Drop the attribute. The value that it describes comes next, in its place.
            values_.resize(finished.first);
            return false;
        }
    }
    return true;
}

void reply_builder::move_texts(const char* from, const char* to) noexcept
{
    for (value& v : values_) {
        if (v.text.data() != nullptr)
            v.text = std::string_view(to + (v.text.data() - from), v.text.size());
    }
}

} // namespace holdfast::resp

#include "zookeeper/queue_place.hpp"

#include "zookeeper/node_names.hpp"

#include <utility>

namespace holdfast::zookeeper_store {

void queue_place::reset(std::string queue)
{
    *this = queue_place();
    queue_ = std::move(queue);
}

bool queue_place::created_as(std::string_view path, std::int64_t transaction)
{
    if (path.size() <= queue_.size() + 1 || !path.starts_with(queue_) ||
        path[queue_.size()] != '/' || transaction <= 0)
        return false;
    const std::string_view name = path.substr(queue_.size() + 1);
    const auto sequence = sequence_of(name);
    if (!sequence)
        return false;
    node_ = name;
    sequence_ = *sequence;
    created_ = transaction;
    return true;
}

bool queue_place::has_order() const noexcept
{
    return tells_order(sequence_);
}

void queue_place::listed(const std::vector<std::string>& names)
{
    state_ = state::absent;
    count_before_ = others_ = 0;
    before_.clear();
    std::int32_t nearest = 0;
    for (const std::string& each : names) {
        if (each == node_) {
            state_ = state::first;
            continue;
        }
        const auto sequence = sequence_of(each);
        if (!sequence)
            continue;
        if (!never_waits(each))
            ++others_;
        if (!is_before(*sequence, sequence_))
            continue;
        if (count_before_++ == 0 || is_before(nearest, *sequence)) {
            nearest = *sequence;
            before_ = each;
        }
    }
    if (state_ == state::first && count_before_ != 0)
        state_ = state::waits;
}

bool queue_place::before_is_gone() noexcept
{
    if (count_before_ != 1)
        return false;
    count_before_ = 0;
    state_ = state::first;
    return true;
}

} // namespace holdfast::zookeeper_store

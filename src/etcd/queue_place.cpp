#include "etcd/queue_place.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::etcd_store {

void queue_place::reset(std::string queue, std::string key)
{
    queue_ = std::move(queue);
    key_ = std::move(key);
    created_ = 0;
    limit_ = first_limit;
    before_.clear();
    cut_off_ = present_ = false;
}

// A resource "a" does not wait for the resource "a/b".
bool queue_place::is_in_queue(std::string_view key) const noexcept
{
    return key.size() > queue_.size() && key.starts_with(queue_) &&
           key.find('/', queue_.size()) == key.npos;
}

void queue_place::listed(const wire::answer& list)
{
    before_.clear();
    const auto own = std::find_if(list.keys.begin(), list.keys.end(),
        [this](const wire::listed_key& each) { return each.name == key_; });
    if (own != list.keys.end())
        created_ = own->created;
    else if (!list.more)
        created_ = 0;
    present_ = created_ != 0;
    for (const wire::listed_key& each : list.keys) {
        if (each.name != key_ && is_in_queue(each.name) && (!present_ || each.created < created_))
            before_.push_back(each);
    }
    cut_off_ = list.more && own == list.keys.end();
    if (cut_off_ && before_.empty())
        limit_ = 0; // only keys that do not count: all are needed
}

// A key may be created again: only a deletion after its creation counts.
bool queue_place::deleted(const wire::deletion& what)
{
    if (what.key == key_) {
        if (what.revision <= created_)
            return false;
        present_ = false;
        return true;
    }
    std::erase_if(before_, [&what](const wire::listed_key& each) {
        return each.name == what.key && each.created < what.revision;
    });
    return false;
}

queue_place::state queue_place::where() const noexcept
{
    if (!present_)
        return state::absent;
    if (!before_.empty())
        return state::waits;
    return cut_off_ ? state::unclear : state::first;
}

} // namespace holdfast::etcd_store

#include "etcd/requests.hpp"

namespace holdfast::etcd_store {

using branch = wire::transaction::branch;

requests::requests(std::string key_prefix, std::string client_name)
    : prefix_(std::move(key_prefix)),
      value_(std::move(client_name))
{}

std::string requests::queue_of(std::string_view resource) const
{
    return prefix_ + std::string(resource) + "/";
}

std::string requests::ask(const claim& c, std::string_view leaves) const
{
    const wire::key_range own{c.place.key(), {}};
    wire::transaction t;
    t.if_none(own);
    t.if_none({barrier_of(c), {}});
    if (!leaves.empty()) {
        t.remove(branch::none_exist, leaves);
        t.remove(branch::otherwise, leaves);
    }
    t.put(branch::none_exist, c.place.key(), value_, c.lease);
    t.list(branch::none_exist, c.place.keys(), c.place.limit());
    t.list(branch::otherwise, own, 1);
    t.list(branch::otherwise, c.place.keys(), c.place.limit());
    return t.encoded();
}

std::string requests::ask_once(const claim& c) const
{
    wire::transaction t;
    t.if_none(c.place.keys());
    t.if_none({barrier_of(c), {}});
    t.put(branch::none_exist, c.place.key(), value_, c.lease);
    t.list(branch::otherwise, c.place.keys(), c.place.limit());
    return t.encoded();
}

std::string requests::bar(const claim& c) const
{
    wire::transaction t;
    t.put(branch::none_exist, barrier_of(c), value_, c.lease);
    t.remove(branch::none_exist, c.place.key());
    return t.encoded();
}

std::string requests::barrier_of(const claim& c) const
{
    return prefix_ + "~holdfast:" + c.place.key().substr(c.place.queue().size());
}

} // namespace holdfast::etcd_store

#include "support/etcd_model.hpp"

#include "support/etcd_model_fields.hpp"

#include "etcd/wire/grpc.hpp"
#include "etcd/wire/messages.hpp"
#include "etcd/wire/protobuf.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::test {

namespace wire = etcd_store::wire;
using wire::proto_writer;

std::string etcd_model::header() const
{
    proto_writer w;
    w.number(1, cluster);
    w.number(3, bits(revision_));
    return w.encoded();
}

std::vector<std::string> etcd_model::in_range(
    const std::string& first, const std::string& end) const
{
    std::vector<std::string> found;
    for (const auto& [name, unused] : keys_) {
        const bool unlimited = end == std::string_view("\0", 1);
        if (end.empty() ? name == first : name >= first && (unlimited || name < end))
            found.push_back(name);
    }
    return found;
}

std::string etcd_model::range(std::string_view encoded) const
{
    const message_fields asked(encoded);
    auto names = in_range(asked.text(1), asked.text(2));
    constexpr std::int64_t by_creation = 2;
    if (asked.number(6) == by_creation)
        std::stable_sort(names.begin(), names.end(), [this](const auto& a, const auto& b) {
            return keys_.at(a).created < keys_.at(b).created;
        });
    const bool with_values = asked.number(8) == 0;
    const auto limit = static_cast<std::size_t>(asked.number(3));
    const bool more = limit != 0 && names.size() > limit;
    if (more)
        names.resize(limit);
    proto_writer w;
    w.message(1, header());
    for (const std::string& name : names) {
        proto_writer k;
        k.text(1, name);
        k.number(2, bits(keys_.at(name).created));
        k.number(3, bits(keys_.at(name).modified));
        if (with_values)
            k.text(5, keys_.at(name).value);
        k.number(6, bits(keys_.at(name).lease));
        w.message(2, k.encoded());
    }
    w.number(3, more ? 1 : 0);
    return w.encoded();
}

etcd_model::result etcd_model::put_request(std::string_view encoded)
{
    const message_fields asked(encoded);
    const std::int64_t under = asked.number(3);
    if (under != 0 && !leases_.contains(under))
        return {wire::status::not_found, "etcdserver: requested lease not found"};
    key& k = keys_[asked.text(1)];
    k.created = k.created == 0 ? revision_ : k.created;
    k.modified = revision_;
    k.value = asked.text(2);
    k.lease = under;
    changes_.push_back({asked.text(1), revision_, false});
    proto_writer w;
    w.message(1, header());
    return {0, w.encoded()};
}

std::string etcd_model::delete_request(std::string_view encoded)
{
    const message_fields asked(encoded);
    const auto names = in_range(asked.text(1), asked.text(2));
    for (const std::string& name : names) {
        keys_.erase(name);
        changes_.push_back({name, revision_, true});
    }
    proto_writer w;
    w.message(1, header());
    w.number(2, names.size());
    return w.encoded();
}

// Only "never created" is compared.
bool etcd_model::holds(std::string_view encoded) const
{
    const message_fields compare(encoded);
    return in_range(compare.text(3), compare.text(64)).empty();
}

etcd_model::result etcd_model::txn(std::string_view encoded)
{
    const message_fields asked(encoded);
    const auto list_of = [&asked](std::uint32_t field) {
        const auto found = asked.texts.find(field);
        return found == asked.texts.end() ? std::vector<std::string>() : found->second;
    };
    const auto conditions = list_of(1);
    const bool succeeds = std::all_of(conditions.begin(), conditions.end(),
        [this](const std::string& each) { return holds(each); });
    const auto operations = list_of(succeeds ? 2 : 3);
    for (const std::string& each : operations) { // nothing is done if one cannot be
        const std::string put = message_fields(each).text(2);
        const std::int64_t under = message_fields(put).number(3);
        if (!put.empty() && under != 0 && !leases_.contains(under))
            return {wire::status::not_found, "etcdserver: requested lease not found"};
    }
    const std::size_t before = changes_.size();
    ++revision_;
    proto_writer w;
    std::string answers;
    for (const std::string& each : operations) {
        const message_fields operation(each);
        proto_writer answer;
        if (operation.texts.contains(1))
            answer.message(1, range(operation.text(1)));
        else if (operation.texts.contains(2))
            answer.message(2, put_request(operation.text(2)).text);
        else
            answer.message(3, delete_request(operation.text(3)));
        proto_writer one;
        one.message(3, answer.encoded());
        answers += one.encoded();
    }
    if (changes_.size() == before)
        --revision_;
    w.message(1, header());
    w.number(2, succeeds ? 1 : 0);
    return {0, w.encoded() + answers};
}

etcd_model::result etcd_model::call(
    std::string_view path, std::string_view message, core::time_point now)
{
    pass_to(now);
    const message_fields asked(message);
    proto_writer w;
    if (path == wire::txn_path)
        return txn(message);
    if (path == wire::range_path)
        return {0, range(message)};
    if (path == wire::delete_path) {
        revision_ += in_range(asked.text(1), asked.text(2)).empty() ? 0 : 1;
        return {0, delete_request(message)};
    }
    if (path == wire::lease_grant_path) {
        const std::int64_t seconds = std::max(asked.number(1), shortest_ttl);
        leases_[++last_lease_] = {seconds, now + std::chrono::seconds(seconds)};
        w.message(1, header());
        w.number(2, bits(last_lease_));
        w.number(3, bits(seconds));
        return {0, w.encoded()};
    }
    if (path == wire::lease_time_path) {
        const std::int64_t id = asked.number(1);
        const auto found = leases_.find(id);
        const auto left = found == leases_.end() ? core::duration() : found->second.ends - now;
        w.message(1, header());
        w.number(2, bits(id));
        w.number(3,
            bits(found == leases_.end() ? -1
                                        : std::chrono::floor<std::chrono::seconds>(left).count()));
        w.number(4, bits(found == leases_.end() ? 0 : found->second.seconds));
        return {0, w.encoded()};
    }
    if (path == wire::lease_revoke_path) {
        if (!leases_.contains(asked.number(1)))
            return {wire::status::not_found, "etcdserver: requested lease not found"};
        revoke(asked.number(1));
        w.message(1, header());
        return {0, w.encoded()};
    }
    if (path == wire::authenticate_path) {
        w.message(1, header());
        w.text(2, "token");
        return {0, w.encoded()};
    }
    return {wire::status::unimplemented, "unknown service"};
}

std::string etcd_model::keep_alive(std::string_view message, core::time_point now)
{
    pass_to(now);
    const std::int64_t id = message_fields(message).number(1);
    const auto found = leases_.find(id);
    proto_writer w;
    w.message(1, header());
    w.number(2, bits(id));
    if (found != leases_.end()) {
        found->second.ends = now + std::chrono::seconds(found->second.seconds);
        w.number(3, bits(found->second.seconds));
    }
    return w.encoded();
}

void etcd_model::pass_to(core::time_point now)
{
    std::vector<std::int64_t> ended;
    for (const auto& [id, each] : leases_) {
        if (each.ends <= now)
            ended.push_back(id);
    }
    for (const std::int64_t id : ended)
        revoke(id);
}

void etcd_model::extend_leases(core::time_point now, core::duration more)
{
    for (auto& [id, each] : leases_)
        each.ends = now + std::chrono::seconds(each.seconds) + more;
}

void etcd_model::revoke(std::int64_t id)
{
    leases_.erase(id);
    bool any = false;
    for (auto at = keys_.begin(); at != keys_.end();) {
        if (at->second.lease == id) {
            revision_ += std::exchange(any, true) ? 0 : 1;
            changes_.push_back({at->first, revision_, true});
            at = keys_.erase(at);
        } else {
            ++at;
        }
    }
}

void etcd_model::put(const std::string& name)
{
    ++revision_;
    key& k = keys_[name];
    k.created = k.created == 0 ? revision_ : k.created;
    k.modified = revision_;
    changes_.push_back({name, revision_, false});
}

void etcd_model::remove(std::string name)
{
    if (keys_.erase(name) != 0)
        changes_.push_back({std::move(name), ++revision_, true});
}

void etcd_model::revoke_all()
{
    while (!leases_.empty())
        revoke(leases_.begin()->first);
}

} // namespace holdfast::test

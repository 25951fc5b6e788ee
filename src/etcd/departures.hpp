#pragma once

#include "core/slot_map.hpp"
#include "core/time.hpp"
#include "etcd/wire/messages.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace holdfast::etcd_store {

// The claims whose key is being deleted, by queue, and the next claim of this process on each. The
// next one must not ask before the key is gone, or it would wait for it.
class departures {
public:
    void begin(const std::string& queue, core::slot_id claim) { leaving_[queue].claim = claim; }
    // The claim whose key is being deleted; 0: none.
    core::slot_id on(const std::string& queue) const
    {
        const auto found = leaving_.find(queue);
        return found == leaving_.end() ? 0 : found->second.claim;
    }
    // Precondition: on(queue) != 0.
    void await(const std::string& queue, core::slot_id next) { leaving_[queue].next = next; }
    // Returns the claim that can ask now; 0: none.
    core::slot_id end(const std::string& queue, core::slot_id claim)
    {
        const auto found = leaving_.find(queue);
        if (found == leaving_.end() || found->second.claim != claim)
            return 0;
        const core::slot_id next = found->second.next;
        leaving_.erase(found);
        return next;
    }

private:
    struct departure {
        core::slot_id claim = 0, next = 0;
    };

    std::unordered_map<std::string, departure> leaving_;
};

// The keys that bar late requests. They are deleted, one after the other, when no request can be so
// late any more.
class barriers {
public:
    void add(std::string key, core::time_point now)
    {
        keys_.push_back({now + kept_for, std::move(key)});
    }
    core::time_point wake_at() const noexcept
    {
        return keys_.empty() || asked_ ? core::never : keys_.front().at;
    }
    // A key whose deletion is due.
    std::optional<std::string> next(core::time_point now)
    {
        if (wake_at() > now)
            return std::nullopt;
        asked_ = true;
        return keys_.front().key;
    }
    // The deletion is answered, or was refused.
    void answered(bool is_gone, core::time_point now)
    {
        asked_ = false;
        barrier last = std::move(keys_.front());
        keys_.pop_front();
        if (!is_gone)
            add(std::move(last.key), now);
    }
    // The deletion under way may not have been carried out.
    void disconnected() noexcept { asked_ = false; }

private:
    static constexpr core::duration kept_for = std::chrono::minutes(10);

    struct barrier {
        core::time_point at{};
        std::string key;
    };

    std::deque<barrier> keys_;
    bool asked_ = false; // for the deletion of the first one
};

// Whether answers come from one store that only goes forward. Otherwise it was restored from a
// backup, or the members belong to different clusters, and tokens could repeat.
class store_history {
public:
    enum class verdict : std::uint8_t { same, other_cluster, went_back };

    std::int64_t revision() const noexcept { return revision_; }
    // `floor`: revision() when the request was sent.
    verdict check(const wire::reply_header& header, std::int64_t floor) noexcept
    {
        if (cluster_ != 0 && header.cluster != cluster_)
            return verdict::other_cluster;
        if (header.revision < floor)
            return verdict::went_back;
        cluster_ = header.cluster;
        revision_ = std::max(revision_, header.revision);
        return verdict::same;
    }

private:
    std::uint64_t cluster_ = 0;
    std::int64_t revision_ = 0;
};

} // namespace holdfast::etcd_store

#pragma once

#include "core/inspection.hpp"
#include "zookeeper/claim_course.hpp"
#include "zookeeper/requester.hpp"
#include "zookeeper/servers.hpp"
#include "zookeeper/survey.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace holdfast::zookeeper_store {

// Tells people who holds locks. It only reads. A lock cannot be taken away: nothing would tell its
// holder, whose session goes on.
class lookups final : public core::inspector {
public:
    // All but the name outlive it. `id`: of this locker, in its tokens.
    lookups(const servers& all, requester& out, claim_course& course, const node_paths& paths,
        std::string client_name, std::uint32_t id);

    // core::inspector
    void introduce(const core::client_identity& self, core::time_point now) override;
    std::uint32_t client_id() const noexcept override { return id_; }
    void begin(const core::inspection_request& request, core::time_point now) override;
    void forget(std::uint64_t tag) override;
    std::optional<core::inspection_result> next_result() override;

    // A server can be asked.
    void connected(core::time_point now);
    // All requests are gone.
    void disconnected();
    // No server can be asked, for this reason.
    void cut_off(errc why);
    void answered(
        const request& r, std::int32_t error, const wire::reply_body& body, core::time_point now);

    core::time_point wake_at() const noexcept;
    void wake(core::time_point now);

private:
    struct lookup {
        survey what;
        core::time_point until{};
        std::uint64_t tag = 0;
        bool asked = false;  // an answer is still to come
        unsigned losses = 0; // connections that were lost meanwhile
    };
    using table = std::map<std::uint64_t, lookup>; // by a number of its own

    void ask(table::iterator each, core::time_point now);
    void refuse(std::uint64_t tag, core::inspection_task task, errc reason);
    void give_up(table::iterator each, errc reason);

    const servers& servers_;
    requester& out_;
    claim_course& course_;
    const node_paths& paths_;
    const std::string client_name_;
    const std::uint32_t id_;
    std::uint64_t last_ = 0;
    table all_;
    std::deque<core::inspection_result> results_;
};

} // namespace holdfast::zookeeper_store

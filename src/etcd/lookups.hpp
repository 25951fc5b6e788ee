#pragma once

#include "etcd/claim_desk.hpp"
#include "etcd/members.hpp"
#include "etcd/survey.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace holdfast::etcd_store {

// Tells people who holds locks. It only reads. A lock cannot be taken away: nothing would tell its
// holder, whose session goes on.
class lookups final : public core::inspector {
public:
    // Both outlive it. `id`: of this locker, in its tokens.
    lookups(members& servers, claim_desk& desk, std::string key_prefix, std::string client_name,
        std::uint32_t id);

    // core::inspector
    void introduce(const core::client_identity& self, core::time_point now) override;
    std::uint32_t client_id() const noexcept override { return id_; }
    void begin(const core::inspection_request& request, core::time_point now) override;
    void forget(std::uint64_t tag) override;
    std::optional<core::inspection_result> next_result() override;

    // A member can be asked.
    void connected(core::time_point now);
    // All calls are gone.
    void disconnected();
    // No member can be asked, for this reason.
    void cut_off(errc why);
    // False if the call is not known here.
    bool take(const wire::arrival& what, core::time_point now);

    // When the oldest unanswered request was sent.
    core::time_point waits_since() const noexcept;
    core::time_point wake_at() const noexcept;
    void wake(core::time_point now);

private:
    struct lookup {
        survey what;
        core::time_point until{};
        wire::stream_id call = 0; // under way
        core::time_point sent{};
        std::optional<std::string> answer{}; // has arrived, but not the end of the call
    };
    using table = std::map<std::uint64_t, lookup>; // by tag

    void ask(table::iterator each, core::time_point now);
    void failed(table::iterator each, int status, const std::string& text, core::time_point now);
    void refuse(std::uint64_t tag, core::inspection_task task, errc reason);
    void give_up(table::iterator each, errc reason);

    members& members_;
    claim_desk& desk_;
    const std::string prefix_, client_name_;
    const std::uint32_t id_;
    table all_;
    std::deque<core::inspection_result> results_;
};

} // namespace holdfast::etcd_store

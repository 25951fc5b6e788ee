#pragma once

#include "etcd/call_book.hpp"
#include "etcd/claim_table.hpp"
#include "etcd/departures.hpp"
#include "etcd/members.hpp"
#include "etcd/requests.hpp"
#include "etcd/session_keeper.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::etcd_store {

// Makes the requests of claims. They gather until the connection takes its output, so that the
// deletion of a key and the next attempt of this process at the same resource are one transaction.
class claim_desk {
public:
    // All but the texts outlive it.
    claim_desk(claim_table& claims, session_keeper& sessions, members& servers, call_book& calls,
        const store_history& history, requests texts)
        : claims_(claims),
          sessions_(sessions),
          members_(servers),
          calls_(calls),
          history_(history),
          texts_(std::move(texts))
    {}

    const requests& texts() const noexcept { return texts_; }
    void introduce(std::string value) { texts_.introduce(std::move(value)); }

    // Requests are made as of then: what is under way began at that time.
    void now_is(core::time_point now) noexcept { now_ = now; }

    // The claim needs the request of its stage. Without a member, it is to be called again when
    // one is there.
    void want(core::claim_id id);
    bool has_requests() const noexcept { return !wanted_.empty(); }
    void make_requests();
    // The connection is gone.
    void forget_requests() noexcept
    {
        wanted_.clear();
        barriers_.disconnected();
    }

    // The key of a claim is to be deleted: the next claim on its queue waits for
    // that, or does it in its own request.
    void leaves(core::claim_id id, const claim& c) { departures_.begin(c.place.queue(), id); }
    // The claim has ended.
    void ended(core::claim_id id, const claim& c);

    // Deletes keys that bar late requests, when they are not needed any more.
    void clear_barriers(core::time_point now);
    // The answer to that.
    void is_cleared(bool is_gone, core::time_point now) { barriers_.answered(is_gone, now); }
    core::time_point wake_at() const noexcept { return barriers_.wake_at(); }

private:
    void make_request(core::claim_id id, core::time_point now);
    void ask(core::claim_id id, claim& c, core::time_point now);
    void begin(request r, std::string_view path, const std::string& message, core::time_point now);

    claim_table& claims_;
    session_keeper& sessions_;
    members& members_;
    call_book& calls_;
    const store_history& history_;
    requests texts_;
    departures departures_;
    barriers barriers_;
    std::vector<core::claim_id> wanted_;
    core::time_point now_ = core::long_ago;
};

} // namespace holdfast::etcd_store

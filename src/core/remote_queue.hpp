#pragma once

#include "core/claim.hpp"
#include "core/time.hpp"

namespace holdfast::core {

// The queue between processes that a store may keep: an optional part of the seam. Without one,
// other processes need a pause to find the resource free, which the locker makes.
class remote_queue {
public:
    // Whether there is a queue to wait in now.
    virtual bool is_usable() const noexcept { return false; }

    // Finds out whether other processes wait for the resource of a claim. `no_remote_waiters` may
    // follow: a hint.
    virtual void probe_waiters(claim_id, time_point) {}
    // Whether the answer to a probe is still to come.
    virtual bool is_probing(claim_id) const noexcept { return false; }

    // From now on, tells when other processes wait for the resource of a claim: `remote_waiters`
    // follows once, at once if some wait already. A hint, which may be lost; so this may be called
    // again.
    virtual void report_waiters(claim_id, time_point) {}
    // Whether `remote_waiters` is still to come if others wait.
    virtual bool reports_waiters(claim_id) const noexcept { return false; }

    // To be called before the release of a granted claim. The turns have followed each other
    // without a pause for so long that polling clients are due a window.
    virtual void leave_open(claim_id) {}

protected:
    ~remote_queue() = default;
};

} // namespace holdfast::core

#pragma once

#include "verification/stores/client.hpp"
#include "verification/stores/result.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace holdfast::store_simulation {

// Some processes that use a store. Faults happen until it becomes quiet. Then each user must get
// its lease, and in the end nothing may be left in the store. A store derives its world from this:
// it has the servers and the processes, and causes the faults that this store really has.
class environment {
public:
    // `faults`: how many kinds of faults fail() has. Each is as likely as the crash of a process.
    environment(std::uint64_t seed, std::size_t faults) : w(seed), judge(w), faults_(faults) {}
    virtual ~environment() = default;
    environment(const environment&) = delete;
    environment& operator=(const environment&) = delete;

    // To be called once.
    result run();

protected:
    // Again and again, after random pauses, while faults happen.
    void repeat(duration shortest, duration longest, const std::function<void()>& what);
    bool faults_happen() const noexcept;
    std::size_t resources() const noexcept { return resources_; }
    duration ttl() const noexcept { return ttl_; }

    world w;
    referee judge;

private:
    // Of the leases of this world, at random.
    virtual duration choose_ttl() = 0;
    // Makes a process, which the derived class owns until the end.
    virtual client& add_client(const client_params& p) = 0;
    // Decides at random how often requests and answers suffer. Not called in a world without
    // faults.
    virtual void begin_faults() = 0;
    // What happens besides, such as transactions of other programs: see repeat(). Not called in a
    // world without faults.
    virtual void begin_events() {}
    // Ends what begin_faults() has begun.
    virtual void end_faults() = 0;
    // Causes a fault: `kind` is less than `faults`. `unlucky` is the number of a process, for
    // faults of one process.
    virtual void fail(std::size_t kind, std::size_t unlucky) = 0;
    // Probability that a process closes its locker, and keeps its leases to their end, where one
    // crashes otherwise.
    virtual double retiring() const { return 0; }
    // Reports what is left in the store: first when all users have given back what they had, then
    // when all processes are closed as well.
    virtual void check_when_idle() {}
    virtual void check_when_closed() {}

    void begin();
    void begin_client();
    void trouble();
    void check_waits();
    void check_end();

    const std::size_t faults_;
    std::size_t resources_ = 1;
    duration ttl_{};
    std::vector<client*> all_;
};

} // namespace holdfast::store_simulation

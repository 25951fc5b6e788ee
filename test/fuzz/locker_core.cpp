// The locker core, with users and a backend that act in any order, checked against independent
// records.
#include "fuzz/locker_world.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace {

using namespace holdfast::fuzz;
namespace core = holdfast::core;
using core::slot_id;
using holdfast::errc;

constexpr core::duration longest_guard = 450ms;

// The user of the locker, and the answers of its backend.
struct user final : locker_world {
    using locker_world::locker_world;

    std::uint64_t last_tag = 0;
    slot_id some_old_lease = 0;
    const bool clean = in.flag(); // no clean-up is under way when the locker closes

    void begin_wait()
    {
        static constexpr std::chrono::milliseconds limits[] = {
            20ms, 0ms, 5ms, 100ms, 400ms, holdfast::forever};
        const std::string name(1, static_cast<char>('A' + in.below(3)));
        const std::size_t kind = in.below(std::size(kinds));
        const std::uint64_t tag = ++last_tag;
        const auto limit = in.one_of(limits);
        waits[tag] = {name, 0, kind};
        const slot_id id =
            locker.acquire(tag, name, core::terms_of(kinds[kind]), limit, in.below(5) == 1, now);
        waits[tag].id = id;
    }

    void cancel_one()
    {
        if (waits.empty())
            return;
        const auto chosen = std::next(waits.begin(),
            static_cast<std::ptrdiff_t>(in.below(std::min<std::size_t>(waits.size(), 256))));
        if (locker.cancel(chosen->second.id, in.flag(), now))
            waits.erase(chosen);
    }

    void use_lease()
    {
        if (leases.empty())
            return;
        const auto chosen = std::next(leases.begin(),
            static_cast<std::ptrdiff_t>(in.below(std::min<std::size_t>(leases.size(), 256))));
        const slot_id id = chosen->first;
        lease& l = chosen->second;
        switch (in.below(4)) {
        case 0:
            return extend(id, l);
        case 1:
            if (locker.release(id, ++last_tag, now)) {
                let_go_at.try_emplace(id, now);
                releases.insert(last_tag);
            } else {
                check(l.gone, "an existing lease can be released");
            }
            return;
        case 2:
            let_go_at.try_emplace(id, now);
            locker.drop(id, now);
            note();
            check(!locker.leases().alive(id), "a dropped lease is over");
            leases.erase(id);
            return;
        default: // ids of leases that no longer exist
            locker.drop(some_old_lease, now);
            check(!locker.release(some_old_lease, 0, now), "an old lease cannot be released");
            check(locker.extend(some_old_lease, now) == errc::not_held,
                "an old lease cannot be extended");
            some_old_lease = id + (slot_id(1) << 63);
        }
    }

    void extend(slot_id id, lease& l)
    {
        const errc refusal = locker.extend(id, now);
        check((refusal == errc{}) == (locker.leases().must_stop(id) == errc{}),
            "a lease can be extended until its work must stop");
        if (refusal == errc{} && !l.extending) {
            l.extending = true;
            l.extension_sent = now;
        }
    }

    // The backend answers one open request.
    void answer()
    {
        if (store.claims.empty())
            return;
        const std::size_t count = store.claims.size();
        const std::size_t first = in.below(std::min<std::size_t>(count, 256));
        for (std::size_t i = 0; i < count; ++i) {
            const core::claim_id id = count - (first + i) % count;
            const backend::claim& c = store.claims.at(id);
            if (c.now == backend::stage::asking)
                return answer_attempt(id);
            if (c.now == backend::stage::held)
                return answer_renewal(id);
        }
    }

    void answer_attempt(core::claim_id id)
    {
        static constexpr errc reasons[] = {
            errc::contended, errc::unreachable, errc::permission_denied, errc::too_late};
        const std::uint8_t choice = in.byte();
        const core::time_point end = std::min(now + 5ms * choice, store.latest_end(id));
        if (choice % 4 == 0) {
            store.refuse(id, reasons[choice / 4 % 4]);
        } else if (end - now <= store.claims.at(id).terms.guard) {
            store.refuse(id, errc::too_late);
        } else {
            store.grant(id, end);
            granted_at[id] = now;
        }
    }

    void answer_renewal(core::claim_id id)
    {
        const std::uint8_t choice = in.byte();
        const core::time_point end = std::min(now + 40ms * (choice - 16), store.latest_end(id));
        if (choice < 16 || end <= now)
            store.lose(id);
        else
            store.confirm(id, end);
    }

    // Other processes begin to wait for a resource.
    bool report_waiters(std::size_t choice)
    {
        const auto reports = [](const auto& each) {
            return each.second.reports && each.second.now == backend::stage::held;
        };
        const auto found = std::find_if(store.claims.begin(), store.claims.end(), reports);
        if (choice % 4 != 0 || found == store.claims.end())
            return false;
        store.others_wait(found->first);
        return true;
    }

    void answer_others()
    {
        constexpr errc reasons[] = {errc{}, errc::key_conflict};
        const std::size_t choice = in.byte();
        if (report_waiters(choice))
            return;
        const std::size_t releasing = store.unanswered_releases.size();
        if (const std::size_t probes = store.unanswered_probes.size(); probes > 0 && choice >= 128)
            store.end_probe(store.unanswered_probes[choice % probes], choice < 240);
        else if (releasing > 0)
            store.end_release(store.unanswered_releases[choice % releasing],
                static_cast<holdfast::release_outcome>(choice % 3));
        else if (!store.watches.empty())
            store.frees(store.watches[choice % store.watches.size()],
                choice % 8 == 0 ? core::never : now + 1ms * int(choice), reasons[choice % 16 == 1]);
    }

    void answer_at_once(std::optional<errc> refusal, bool grant)
    {
        store.refuse_at_once = refusal;
        store.grant_at_once = store.answer_probes_at_once = grant;
    }

    void step()
    {
        const std::uint8_t choice = in.byte();
        if (choice >= 240)
            answer_at_once(errc::contended, false);
        else
            answer_at_once(std::nullopt, choice >= 224);
        random.exhausted = choice >= 216 && choice < 224;
        store.has_queue = choice >= 112 && choice < 240;
        store.can_report = store.has_queue;
        store.outlook_is = choice >= 192 ? errc::contended : errc::unreachable;
        switch (choice % 8) {
        case 0:
            begin_wait();
            break;
        case 1:
            cancel_one();
            break;
        case 2:
            use_lease();
            break;
        case 3:
        case 4:
            answer();
            break;
        case 5:
            answer_others();
            break;
        case 6:
            now += 1ms * (in.byte() % 64);
            break;
        default: // sometimes wakes late
            now = std::max(now, locker.wake_at() == core::never ? now : locker.wake_at());
            now += in.below(16) == 15 ? 2s : 0s;
        }
        wake();
    }

    void close_and_check()
    {
        answer_at_once(std::nullopt, false);
        store.deletions = clean ? 0 : 1;
        const core::time_point began = now;
        closing = true;
        locker.close(now);
        note();
        check(waits.empty(), "closing ends all waits");
        for (const auto& [id, l] : leases)
            check(!l.working, "closing stops all work");
        begin_wait();
        note();
        check(waits.empty(), "a closed locker ends a new wait at once");
        while (!closed) {
            check(locker.wake_at() != core::never, "a closing locker has a timer until it ends");
            now = std::max(now, locker.wake_at());
            wake();
        }
        check(now <= began + longest_guard + 500ms, "closing ends in bounded time");
        while (!store.unanswered_releases.empty())
            store.end_release(store.unanswered_releases.front());
        wake();
        check(releases.empty(), "every release has an outcome");
        for (const auto& [id, c] : store.claims) {
            check(c.now == backend::stage::ended, "every claim ends");
            check(c.released == c.granted, "every granted claim is released");
        }
        while (!leases.empty()) {
            locker.drop(leases.begin()->first, now);
            note();
            leases.erase(leases.begin());
        }
        holdfast::locker_stats s;
        locker.add_to(s);
        check(s.held == 0 && s.acquired == s.released + s.lost, "the statistics add up");
        check(s.acquired == store.grants + store.transfers &&
                  s.handed_over + s.resumed == store.transfers,
            "every grant and every transfer is acquired once");
        check(locker.wake_at() == core::never, "a closed locker has no timer");
    }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    input in(data, size);
    user u(in);
    while (!in.empty())
        u.step();
    u.close_and_check();
    return 0;
}

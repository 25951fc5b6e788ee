// The release of a multi_lease, on a store whose answers the test chooses.
#include "support/call.hpp"
#include "support/print.hpp"
#include "support/run.hpp"
#include "support/scripted_backend.hpp"

#include <holdfast/multi_lock.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(joint_release)

using enum release_outcome;
using outcomes = std::vector<release_outcome>;

class scripted_factory final : public core::backend_factory {
public:
    std::unique_ptr<core::backend_core> make(std::uint64_t) const override
    {
        auto made = std::make_unique<scripted_backend>();
        made->grant_at_once = true;
        last = made.get();
        return made;
    }

    mutable scripted_backend* last = nullptr; // the locker owns it
};

// Leases on "a", "b", ….
struct release_fixture {
    explicit release_fixture(std::size_t members)
    {
        std::vector<holdfast::resource> names;
        for (std::size_t i = 0; i < members; ++i)
            names.emplace_back(std::string(1, static_cast<char>('a' + i)));
        call<multi_lease> acquired;
        multi_lock(*locker, std::move(names)).acquire(acquired.token());
        run_until(io, [&] { return acquired.done(); });
        held = std::move(acquired.result<multi_lease>());
        BOOST_REQUIRE(bool(held));
        store().refuse_at_once = errc::contended;
    }
    ~release_fixture()
    {
        locker.reset();
        io.restart();
        io.poll();
    }

    scripted_backend& store() { return *factory->last; }

    // The first release that has no answer gets this one.
    void answer(release_outcome how)
    {
        store().end_release(store().unanswered_releases.at(0), how);
        // The locker looks at its store when it is called.
        holdfast::lock(*locker, "other").try_acquire([](error_code, const lease&) {});
        io.restart();
        io.poll();
    }

    release_outcome outcome_of(const outcomes& answers)
    {
        call<release_outcome> release;
        held.release(release.token());
        for (const release_outcome each : answers) {
            io.restart();
            io.poll();
            BOOST_TEST(!release.done());
            answer(each);
        }
        BOOST_REQUIRE(release.completions() == 1);
        BOOST_TEST(!release.error(), release.error().message());
        return release.result<release_outcome>();
    }

    asio::io_context io;
    std::shared_ptr<scripted_factory> factory = std::make_shared<scripted_factory>();
    std::optional<holdfast::locker> locker{std::in_place, io.get_executor(), backend(factory)};
    multi_lease held;
};

BOOST_AUTO_TEST_CASE(the_outcome_is_the_worst_of_all_members)
{
    BOOST_TEST(release_fixture(3).outcome_of({released, released, released}) == released);
    outcomes one_expired{released, released, expired};
    do
        BOOST_TEST(release_fixture(3).outcome_of(one_expired) == expired);
    while (std::next_permutation(one_expired.begin(), one_expired.end()));
    outcomes all_kinds{released, expired, unconfirmed};
    do
        BOOST_TEST(release_fixture(3).outcome_of(all_kinds) == unconfirmed);
    while (std::next_permutation(all_kinds.begin(), all_kinds.end()));
}

BOOST_AUTO_TEST_CASE(the_other_members_are_released_if_one_was_released_before)
{
    release_fixture f(3);
    call<release_outcome> early, rest;
    f.held.members()[1].release(early.token());
    f.answer(released);
    BOOST_TEST(!early.error(), early.error().message());
    f.store().calls.clear();

    f.held.release(rest.token());
    BOOST_TEST((f.store().calls == std::vector<std::string>{"release a", "release c"}));
    f.answer(released);
    BOOST_TEST(!rest.done());
    f.answer(unconfirmed);
    BOOST_TEST(rest.error() == errc::not_held);
    BOOST_TEST(rest.result<release_outcome>() == unconfirmed);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test

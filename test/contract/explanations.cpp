// lock::explain(), and what() of the exceptions of lock::hold().
#include "contract/backend_contract.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(explanations)

const std::string waits_for_itself = "a lease of this locker holds the resource";

bool contains(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

task do_nothing(lease&)
{
    co_return;
}

asio::awaitable<std::string> what_of_hold(holdfast::lock lock, errc expected)
{
    std::string what;
    try {
        co_await lock.hold(do_nothing);
    } catch (const boost::system::system_error& e) {
        BOOST_TEST(e.code() == expected);
        what = e.what();
    }
    co_return what;
}

task acquire_twice(scene& s)
{
    lease held = co_await s.lock(0).acquire();
    lock_options brief_wait;
    brief_wait.wait = 20ms;
    const std::string own = co_await what_of_hold(s.lock(0, brief_wait), errc::contended);
    BOOST_TEST(own.starts_with(s.resource + ": " + waits_for_itself), own);
    BOOST_TEST(contains(own, error_code(errc::contended).message()), own);
    co_await connect(s.locker(1));
    lock_options long_wait;
    long_wait.wait = 1s;
    const std::string others = co_await what_of_hold(s.lock(1, long_wait), errc::contended);
    BOOST_TEST(others.starts_with(s.resource), others);
    BOOST_TEST(!contains(others, waits_for_itself), others);

    co_await held.release();
    BOOST_TEST(s.lock(0).explain(errc::contended) == s.resource); // it holds nothing any more
}

BOOST_DATA_TEST_CASE(a_holder_that_acquires_again_is_told_so, every_backend(), each)
{
    play(each.make(), 2, acquire_twice);
}

// A cancellation needs no explanation.
BOOST_AUTO_TEST_CASE(errors_without_a_cause_have_the_resource_only)
{
    play(any_backend(), 1, [](scene& s) -> task {
        BOOST_TEST(s.lock(0).explain(asio::error::operation_aborted) == s.resource);
        co_await s.locker().close();
        const std::string what = co_await what_of_hold(s.lock(0), errc::closed);
        BOOST_TEST(what.starts_with(s.resource + ": the locker is closed"), what);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test

// Statements that the server executes after later ones: the time that they bear is earlier.
#include "integration/mysql/store.hpp"
#include "mysql/statements.hpp"
#include "mysql/texts.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace holdfast::test {
namespace {

namespace data = boost::unit_test::data;
using mysql_store::statements;
using sql::action;

constexpr std::int64_t ttl = 60'000'000, start = 1'700'000'000'000'000;

struct lock_table {
    lock_table()
    {
        session.run(mysql_store::settings_text(10s));
        session.run(texts.create());
    }
    // What the statement of an owner finds that has read the clock at that time.
    std::string find(action what, std::int64_t time, std::string_view owner = "A")
    {
        const std::array one{
            sql::entry{.resource = "a", .owner = owner, .ttl = std::chrono::microseconds(ttl)}};
        const sql::statement whole{.what = what, .entries = one};
        for (const std::string& text : {texts.alone(whole), texts.in_queue(whole)}) {
            if (!short_first || text.empty())
                continue;
            const std::string found = find(text, time);
            if (found != "l")
                return found;
        }
        return find(texts.of(whole), time);
    }
    std::string find(std::string text, std::int64_t time)
    {
        const std::string_view clock = mysql_store::texts::set_clock;
        BOOST_REQUIRE(text.starts_with(clock));
        text.replace(0, clock.size(), "SET @hf_now = " + std::to_string(time));
        const auto rows = session.run(text);
        BOOST_REQUIRE(rows.size() == 1u);
        return rows.front().substr(2, 1);
    }
    std::int64_t end()
    {
        return std::stoll(session.run("SELECT expires_at FROM holdfast_locks").at(0));
    }

    const mariadb_server server;
    mariadb_session session{server};
    const statements texts{"holdfast_locks"};
    bool short_first = false;
};

BOOST_AUTO_TEST_SUITE(mysql_late_statements)

BOOST_DATA_TEST_CASE_F(
    lock_table, the_end_of_a_lease_is_never_moved_back, data::make({false, true}), is_short)
{
    short_first = is_short;
    BOOST_TEST(find(action::want, start) == "g");
    BOOST_TEST(end() == start + ttl);
    BOOST_TEST(find(action::renew, start + 20'000'000) == "k");
    BOOST_TEST(end() == start + 20'000'000 + ttl);
    for (const action late : {action::renew, action::want}) {
        BOOST_TEST(find(late, start + 10'000'000) == (late == action::want ? "g" : "k"));
        BOOST_TEST(end() == start + 20'000'000 + ttl);
    }
    BOOST_TEST(find(action::want, start + 30'000'000) == "g"); // it goes on
    BOOST_TEST(end() == start + 30'000'000 + ttl);
}

// Its end is later than that of the lease that it follows, or earlier.
BOOST_DATA_TEST_CASE_F(
    lock_table, a_new_holder_has_an_end_of_its_own, data::make({false, true}), is_short)
{
    short_first = is_short;
    BOOST_TEST(find(action::want, start) == "g");
    BOOST_TEST(find(action::want, start + 1, "B") == "r");
    BOOST_TEST(find(action::want, start + ttl, "B") == "g");
    BOOST_TEST(end() == start + 2 * ttl);
    BOOST_TEST(find(action::renew, start + ttl - 1) == "x");
    BOOST_TEST(end() == start + 2 * ttl);
}

// Even if the statement has read the clock before the one before it.
BOOST_DATA_TEST_CASE_F(
    lock_table, a_new_holder_has_larger_tokens, data::make({false, true}), is_short)
{
    short_first = is_short;
    const auto number = [this](const char* column) {
        return std::stoll(session.run(std::string("SELECT ") + column + " FROM holdfast_locks")[0]);
    };
    std::int64_t last = 0;
    for (const std::int64_t time : {start, start, start - 5'000'000}) {
        BOOST_TEST(find(action::want, time) == "g");
        BOOST_TEST(number("token") > last);
        BOOST_TEST(number("token_end") >= number("token"));
        last = number("token_end");
        BOOST_TEST(find(action::give_back, time) == "f");
    }
}

// A place of its own would get the resource when its owner is gone.
BOOST_DATA_TEST_CASE_F(lock_table, an_owner_that_gives_back_leaves_no_place_behind,
    data::make({false, true}), is_short)
{
    short_first = is_short;
    BOOST_TEST(find(action::want, start) == "g");
    const std::string until = std::to_string(start + ttl);
    session.run(
        "UPDATE holdfast_locks SET waiters = '[\"B@\"," + until + "],[\"A\"," + until + "]'");
    BOOST_TEST(find(action::give_back, start) == "l"); // once more, for the place
    BOOST_TEST(find(action::give_back, start) == "w");
    BOOST_TEST(session.run("SELECT waiters FROM holdfast_locks").at(0).empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test

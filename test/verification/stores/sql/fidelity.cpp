#include "verification/stores/sql/fidelity.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using simulation::dice;
using sql::action;
using sql::finding;

constexpr std::size_t resources = 4;

// Times to live are either over at once, or not during the test: what is found does not depend on
// how fast the machine is.
struct step {
    sql::statement statement;
    std::vector<std::string> names, owners;
    std::vector<sql::entry> entries;

    step(dice& random, bool for_one)
    {
        statement.what = static_cast<action>(random.below(sql::actions));
        statement.waits = random.chance(0.5);
        if (random.chance(0.05))
            statement.not_after = 1;
        const bool one = for_one && random.chance(0.4);
        const bool alone = one && random.chance(0.5); // nobody queues for it
        const std::size_t only = for_one ? random.below(resources) : 0;
        for (std::size_t i = 0; i < resources; ++i) {
            if (one ? i != only : random.chance(0.5))
                continue;
            names.push_back(alone ? "alone" : "r" + std::to_string(i));
            owners.push_back(std::string(1, static_cast<char>('A' + random.below(5))) +
                             (random.chance(0.9) ? "@a" : ""));
        }
        for (std::size_t i = 0; i < names.size(); ++i) {
            const bool brief = random.chance(0.3);
            entries.push_back({.resource = names[i],
                .owner = owners[i],
                .ttl = brief ? core::duration(1us) : core::duration(1h),
                .queues = !alone && random.chance(0.5),
                .waits = for_one && random.chance(0.5)});
        }
        statement.entries = entries;
    }
};

void compare(const sql::answer& real, const sql::answer& model, std::size_t entries)
{
    BOOST_REQUIRE(real.rows.size() == entries);
    BOOST_REQUIRE(model.rows.size() == entries);
    for (const sql::row& r : real.rows) {
        const sql::row& m = model.rows[r.entry];
        BOOST_REQUIRE((r.what == m.what));
        BOOST_REQUIRE(r.ahead == m.ahead);
        BOOST_REQUIRE(r.others_wait == m.others_wait);
        if (r.what == finding::queued || r.what == finding::refused)
            BOOST_REQUIRE((r.free_in > 30min) == (m.free_in > 30min));
    }
}

void compare(const sql::reply& real, const sql::reply& model)
{
    BOOST_REQUIRE((real.taken == model.taken));
    BOOST_REQUIRE(real.more == model.more);
    BOOST_REQUIRE(real.rows.size() == model.rows.size());
    for (std::size_t i = 0; i < real.rows.size(); ++i) {
        const sql::sight &r = real.rows[i], &m = model.rows[i];
        BOOST_REQUIRE(r.resource == m.resource);
        BOOST_REQUIRE(r.owner == m.owner);
        BOOST_REQUIRE((r.left > 30min) == (m.left > 30min));
        BOOST_REQUIRE(r.waiting == m.waiting);
        BOOST_REQUIRE(r.waiters == m.waiters);
    }
}

// People look at a resource or at several, or take one from an owner. True if it was taken.
bool ask_both(dice& random, real_table& real, sql_model& model)
{
    const std::string from = "r" + std::to_string(random.below(4)), end = "r3";
    const std::string owner =
        std::string(1, static_cast<char>('A' + random.below(5))) + (random.chance(0.9) ? "@a" : "");
    sql::question what{.resource = from, .end = end, .owner = owner};
    what.what = static_cast<sql::question::kind>(random.below(3));
    what.waits = random.chance(0.5);
    const auto r = real.execute(what), m = model.execute(what);
    BOOST_REQUIRE(r.index() == m.index());
    if (r.index() == 1)
        return false;
    compare(std::get<sql::reply>(r), std::get<sql::reply>(m));
    return std::get<sql::reply>(r).taken == finding::released;
}

} // namespace

comparison compare_with_model(real_table& real, sql_model& model, dice& random, bool for_one)
{
    std::map<std::string, std::uint64_t> last_token;
    comparison all;
    std::vector<std::size_t> seen(16);
    for (int i = 0; i < 4000; ++i) {
        model.clock += 10'000; // what is over at once is over in both
        if (random.chance(0.1) && model.locked.empty()) {
            const std::string name = for_one && random.chance(0.2)
                                         ? "alone"
                                         : "r" + std::to_string(random.below(resources));
            const auto how = random.chance(0.5) ? sql_model::lock::row : sql_model::lock::key;
            if (model.rows.contains(name)) {
                real.lock(name, how);
                model.locked[name] = how;
            }
        } else if (random.chance(0.3) && !model.locked.empty()) {
            real.unlock();
            model.locked.clear();
        }
        if (random.chance(0.3))
            all.taken += ask_both(random, real, model) ? 1u : 0u;
        const step next(random, for_one);
        const auto r = real.execute(next.statement), m = model.execute(next.statement);
        BOOST_REQUIRE(r.index() == m.index());
        ++all.statements;
        real.compare_told(model);
        if (r.index() == 1) {
            ++all.failed;
            continue;
        }
        const auto& answer = std::get<sql::answer>(r);
        compare(answer, std::get<sql::answer>(m), next.entries.size());
        for (const sql::row& each : answer.rows) {
            ++all.findings;
            ++seen[static_cast<std::size_t>(each.what)];
            if (each.what != finding::granted)
                continue;
            std::uint64_t& last = last_token[next.names[each.entry]];
            BOOST_TEST(each.tokens.first <= each.tokens.last);
            BOOST_TEST(each.tokens.last >= last);
            BOOST_TEST(each.tokens.last - each.tokens.first < 1024u);
            last = each.tokens.last;
        }
    }
    BOOST_TEST_MESSAGE(all.statements << " statements, " << all.failed << " of them timed out; "
                                      << all.findings << " findings; " << all.taken
                                      << " resources were taken");
    BOOST_TEST(all.taken > 10u);
    for (std::size_t i = 0; i <= static_cast<std::size_t>(finding::lost); ++i)
        BOOST_TEST(seen[i] > 0u, "finding " << i << " has not occurred");
    return all;
}

} // namespace holdfast::test

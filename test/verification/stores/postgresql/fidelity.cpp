// Compares the model of the table with a real server: the same statements, at about the same time,
// must find the same.

#include "postgresql/encoding.hpp"
#include "postgresql/statements.hpp"
#include "sql/reading.hpp"
#include "support/postgres_server.hpp"
#include "support/sql_model.hpp"
#include "verification/simulation/dice.hpp"

#include <boost/test/unit_test.hpp>

#include <libpq-fe.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace holdfast;
using namespace holdfast::test;
using namespace std::chrono_literals;
using simulation::dice;
using sql::action;
using sql::finding;

struct finish {
    void operator()(PGconn* each) const noexcept { ::PQfinish(each); }
    void operator()(PGresult* each) const noexcept { ::PQclear(each); }
};

class rows_of final : public sql::result {
public:
    explicit rows_of(const PGresult* found) : found_(found) {}

    std::size_t rows() const noexcept override
    {
        return static_cast<std::size_t>(::PQntuples(found_));
    }
    std::size_t columns() const noexcept override
    {
        return static_cast<std::size_t>(::PQnfields(found_));
    }
    std::string_view text(std::size_t row, std::size_t column) const noexcept override
    {
        return ::PQgetvalue(found_, static_cast<int>(row), static_cast<int>(column));
    }

private:
    const PGresult* found_;
};

// The real table, over one connection, which another one may lock rows of.
class real_table {
public:
    explicit real_table(const postgres_server& server)
        : connection_(::PQconnectdb(server.where().c_str())),
          stranger_(::PQconnectdb(server.where().c_str()))
    {
        run(connection_.get(), texts_.create());
        run(connection_.get(), "SET lock_timeout = '20ms'; SET client_min_messages = error; "
                               "LISTEN a");
    }

    std::variant<sql::answer, sql::failure> execute(const sql::statement& what)
    {
        const auto found =
            query(texts_.of(what.what, what.waits), postgresql_store::parameters_of(what));
        if (!found)
            return sql::failure{errc::contended, sql::failure::remedy::pass_over, ""};
        const auto read = sql::answer_in(what.what, what.entries.size(), rows_of(found.get()));
        BOOST_REQUIRE(read.has_value());
        return *read;
    }
    std::variant<sql::reply, sql::failure> execute(const sql::question& what)
    {
        const auto found =
            query(texts_.of(what.what, what.waits), postgresql_store::parameters_of(what));
        if (!found)
            return sql::failure{errc::contended, sql::failure::remedy::pass_over, ""};
        const auto read = sql::reply_in(what.what, rows_of(found.get()));
        BOOST_REQUIRE(read.has_value());
        return *read;
    }
    std::vector<std::string> told()
    {
        ::PQconsumeInput(connection_.get());
        std::vector<std::string> owners;
        while (PGnotify* const next = ::PQnotifies(connection_.get())) {
            const auto turn = postgresql_store::turn_in(next->extra);
            const auto loss = postgresql_store::loss_in(next->extra);
            BOOST_REQUIRE((turn || loss));
            owners.emplace_back(turn ? turn->owner : loss->owner);
            ::PQfreemem(next);
        }
        return owners;
    }
    void lock(const std::string& resource, sql_model::lock how)
    {
        run(stranger_.get(), "BEGIN");
        run(stranger_.get(), "SELECT 1 FROM holdfast_locks WHERE resource = '" +
                                 postgresql_store::bytes_text(resource) + "' FOR " +
                                 (how == sql_model::lock::row ? "UPDATE" : "KEY SHARE"));
    }
    void unlock() { run(stranger_.get(), "ROLLBACK"); }

private:
    // Null if it has waited too long for a row.
    std::unique_ptr<PGresult, finish> query(
        const std::string& text, const std::vector<std::string>& parameters)
    {
        std::vector<const char*> values;
        for (const std::string& each : parameters)
            values.push_back(each.c_str());
        std::unique_ptr<PGresult, finish> found(::PQexecParams(connection_.get(), text.c_str(),
            static_cast<int>(values.size()), nullptr, values.data(), nullptr, nullptr, 0));
        if (::PQresultStatus(found.get()) == PGRES_TUPLES_OK)
            return found;
        const std::string state = ::PQresultErrorField(found.get(), PG_DIAG_SQLSTATE);
        BOOST_TEST(state == "55P03", ::PQresultErrorMessage(found.get()));
        return nullptr;
    }
    static void run(PGconn* on, const std::string& commands)
    {
        const std::unique_ptr<PGresult, finish> done(::PQexec(on, commands.c_str()));
        const auto status = ::PQresultStatus(done.get());
        BOOST_TEST((status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK),
            ::PQresultErrorMessage(done.get()));
    }

    const postgresql_store::statements texts_{"holdfast_locks"};
    std::unique_ptr<PGconn, finish> connection_, stranger_;
};

// Times to live are either over at once, or not during the test: what is found does not depend on
// how fast the machine is.
struct step {
    sql::statement statement;
    std::vector<std::string> names, owners;
    std::vector<sql::entry> entries;

    step(dice& random, std::size_t resources)
    {
        statement.what = static_cast<action>(random.below(sql::actions));
        statement.waits = random.chance(0.5);
        if (random.chance(0.05))
            statement.not_after = 1;
        for (std::size_t i = 0; i < resources; ++i) {
            if (random.chance(0.5))
                continue;
            names.push_back("r" + std::to_string(i));
            owners.push_back(std::string(1, static_cast<char>('A' + random.below(5))) +
                             (random.chance(0.9) ? "@a" : ""));
        }
        for (std::size_t i = 0; i < names.size(); ++i) {
            const bool brief = random.chance(0.3);
            entries.push_back({.resource = names[i],
                .owner = owners[i],
                .ttl = brief ? core::duration(1us) : core::duration(1h),
                .queues = random.chance(0.5)});
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

BOOST_AUTO_TEST_CASE(the_modelled_table_finds_what_the_real_one_finds)
{
    const postgres_server server;
    real_table real(server);
    sql_model model;
    dice random(1);
    constexpr std::size_t resources = 4;
    std::map<std::string, std::uint64_t> last_token;
    std::size_t same = 0, failed = 0, found = 0, taken = 0;
    std::vector<std::size_t> seen(16);
    for (int i = 0; i < 4000; ++i) {
        model.clock += 10'000; // what is over at once is over in both
        if (random.chance(0.1) && model.locked.empty()) {
            const std::string name = "r" + std::to_string(random.below(resources));
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
            taken += ask_both(random, real, model) ? 1u : 0u;
        const step next(random, resources);
        const auto r = real.execute(next.statement), m = model.execute(next.statement);
        BOOST_REQUIRE(r.index() == m.index());
        ++same;
        std::vector<std::string> told;
        for (const auto& each : model.turns())
            told.push_back(each.owner);
        for (const auto& each : model.losses())
            told.push_back(each.owner);
        auto really_told = real.told();
        std::sort(told.begin(), told.end());
        std::sort(really_told.begin(), really_told.end());
        BOOST_REQUIRE(really_told == told);
        if (r.index() == 1) {
            ++failed;
            continue;
        }
        const auto& answer = std::get<sql::answer>(r);
        compare(answer, std::get<sql::answer>(m), next.entries.size());
        for (const sql::row& each : answer.rows) {
            ++found;
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
    BOOST_TEST_MESSAGE(same << " statements, " << failed << " of them timed out; " << found
                            << " findings; " << taken << " resources were taken");
    BOOST_TEST(taken > 10u);
    for (std::size_t i = 0; i <= static_cast<std::size_t>(finding::lost); ++i)
        BOOST_TEST(seen[i] > 0u, "finding " << i << " has not occurred");
}

} // namespace

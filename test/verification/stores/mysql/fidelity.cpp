// Compares the model of the table with a real server: the same statements, at about the same time,
// must find the same.

#include "mysql/statements.hpp"
#include "sql/reading.hpp"
#include "support/mariadb_server.hpp"
#include "support/sql_model.hpp"
#include "verification/simulation/dice.hpp"

#include <boost/test/unit_test.hpp>

#include <mysql.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace {

using namespace holdfast;
using namespace holdfast::test;
using namespace std::chrono_literals;
using simulation::dice;
using sql::action;
using sql::finding;

class rows_of final : public sql::result {
public:
    explicit rows_of(MYSQL_RES* found) : columns_(::mysql_num_fields(found))
    {
        while (const MYSQL_ROW next = ::mysql_fetch_row(found)) {
            const unsigned long* const lengths = ::mysql_fetch_lengths(found);
            for (unsigned i = 0; i < columns_; ++i)
                texts_.emplace_back(
                    next[i] == nullptr ? "" : next[i], next[i] == nullptr ? 0 : lengths[i]);
        }
    }

    std::size_t rows() const noexcept override { return texts_.size() / columns_; }
    std::size_t columns() const noexcept override { return columns_; }
    std::string_view text(std::size_t row, std::size_t column) const noexcept override
    {
        return texts_[row * columns_ + column];
    }

private:
    const unsigned columns_;
    std::vector<std::string> texts_;
};

struct finish {
    void operator()(MYSQL* each) const noexcept { ::mysql_close(each); }
    void operator()(MYSQL_RES* each) const noexcept { ::mysql_free_result(each); }
};

// The real table, over one connection, which another one may lock rows of.
class real_table {
public:
    explicit real_table(const mariadb_server& server)
        : connection_(::mysql_init(nullptr)),
          stranger_(server)
    {
        BOOST_REQUIRE(::mysql_real_connect(connection_.get(), nullptr, "root", "", "shop", 0,
                          server.socket().c_str(), CLIENT_MULTI_STATEMENTS) != nullptr);
        query(mysql_store::settings_text(10s));
        query(texts_.create());
    }

    std::variant<sql::answer, sql::failure> execute(const sql::statement& what, bool short_first)
    {
        for (const bool alone : {true, false}) {
            const std::string text = alone ? texts_.alone(what) : texts_.in_queue(what);
            if (!short_first || text.empty())
                continue;
            const sql::answer found = read(what, text);
            if (found.rows.at(0).what != finding::locked) {
                ++enough[{what.what, alone, what.entries.front().waits}];
                return found;
            }
            ++in_vain;
        }
        return read(what, texts_.of(what));
    }
    std::variant<sql::reply, sql::failure> execute(const sql::question& what)
    {
        const auto found = query(texts_.of(what));
        const auto read = sql::reply_in(what.what, rows_of(found.get()));
        BOOST_REQUIRE(read.has_value());
        return *read;
    }
    void lock(const std::string& resource, sql_model::lock how)
    {
        stranger_.run("SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION");
        if (how == sql_model::lock::row) {
            stranger_.run("SELECT 1 FROM holdfast_locks FORCE INDEX (PRIMARY) WHERE resource = '" +
                          resource + "' FOR UPDATE");
            return;
        }
        std::string hex;
        sql::add_hex(hex, resource);
        const auto token =
            stranger_.run("SELECT token FROM holdfast_locks WHERE resource = '" + resource + "'");
        BOOST_REQUIRE(
            stranger_
                .run(mysql_store::guard_text("holdfast_locks"), {hex, token.at(0), token.at(0)})
                .size() == 1u);
    }
    void unlock() { stranger_.run("ROLLBACK"); }

    // Short statements.
    std::map<std::tuple<action, bool, bool>, std::size_t> enough;
    std::size_t in_vain = 0;

private:
    sql::answer read(const sql::statement& what, const std::string& text)
    {
        const auto found = query(text);
        const auto read = sql::answer_in(what.what, what.entries.size(), rows_of(found.get()));
        BOOST_REQUIRE(read.has_value());
        return *read;
    }
    // The last result.
    std::unique_ptr<MYSQL_RES, finish> query(const std::string& text)
    {
        MYSQL* const to = connection_.get();
        std::unique_ptr<MYSQL_RES, finish> last;
        int more = ::mysql_real_query(to, text.data(), text.size());
        while (more == 0) {
            if (MYSQL_RES* const found = ::mysql_store_result(to); found != nullptr)
                last.reset(found);
            more = ::mysql_next_result(to);
        }
        BOOST_REQUIRE_MESSAGE(::mysql_errno(to) == 0, ::mysql_error(to));
        return last;
    }

    const mysql_store::statements texts_{"holdfast_locks"};
    std::unique_ptr<MYSQL, finish> connection_;
    mariadb_session stranger_;
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
        const bool one = random.chance(0.4);          // short statements are for one resource
        const bool alone = one && random.chance(0.5); // which nobody queues for
        const std::size_t only = random.below(resources);
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
                .waits = random.chance(0.5)});
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
    const mariadb_server server;
    real_table real(server);
    sql_model model;
    model.passes_over = true;
    dice random(1);
    constexpr std::size_t resources = 4;
    std::map<std::string, std::uint64_t> last_token;
    std::size_t same = 0, found = 0, taken = 0;
    std::vector<std::size_t> seen(16);
    for (int i = 0; i < 4000; ++i) {
        model.clock += 10'000; // what is over at once is over in both
        if (random.chance(0.1) && model.locked.empty()) {
            const std::string name =
                random.chance(0.2) ? "alone" : "r" + std::to_string(random.below(resources));
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
        const auto r = real.execute(next.statement, random.chance(0.7)),
                   m = model.execute(next.statement);
        BOOST_REQUIRE(r.index() == m.index());
        BOOST_REQUIRE(r.index() == 0);
        ++same;
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
    BOOST_TEST_MESSAGE(same << " statements, " << real.in_vain << " short ones in vain; " << found
                            << " findings; " << taken << " resources were taken");
    BOOST_TEST(taken > 10u);
    for (const auto& [kind, count] : real.enough)
        BOOST_TEST_MESSAGE("a short statement of kind " << static_cast<int>(std::get<0>(kind))
                                                        << std::get<1>(kind) << std::get<2>(kind)
                                                        << " was enough " << count << " times");
    BOOST_TEST(real.enough.size() == 8u); // all kinds
    for (std::size_t i = 0; i <= static_cast<std::size_t>(finding::lost); ++i)
        BOOST_TEST(seen[i] > 0u, "finding " << i << " has not occurred");
}

} // namespace

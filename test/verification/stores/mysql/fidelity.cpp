// Compares the model of the table with a real server: the same statements, at about the same time,
// must find the same.

#include "verification/stores/sql/fidelity.hpp"

#include "mysql/statements.hpp"
#include "sql/reading.hpp"
#include "support/mariadb_server.hpp"

#include <boost/test/unit_test.hpp>

#include <mysql.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace holdfast::test {
namespace {

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

class mariadb_table final : public real_table {
public:
    mariadb_table(const mariadb_server& server, dice& random)
        : random_(random),
          connection_(::mysql_init(nullptr)),
          stranger_(server)
    {
        BOOST_REQUIRE(::mysql_real_connect(connection_.get(), nullptr, "root", "", "shop", 0,
                          server.socket().c_str(), CLIENT_MULTI_STATEMENTS) != nullptr);
        query(mysql_store::settings_text(10s));
        query(texts_.create());
    }

    std::variant<sql::answer, sql::failure> execute(const sql::statement& what) override
    {
        const bool short_first = random_.chance(0.7);
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
    std::variant<sql::reply, sql::failure> execute(const sql::question& what) override
    {
        const auto found = query(texts_.of(what));
        const auto read = sql::reply_in(what.what, rows_of(found.get()));
        BOOST_REQUIRE(read.has_value());
        return *read;
    }
    void lock(const std::string& resource, sql_model::lock how) override
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
    void unlock() override { stranger_.run("ROLLBACK"); }

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

    dice& random_;
    const mysql_store::statements texts_{"holdfast_locks"};
    std::unique_ptr<MYSQL, finish> connection_;
    mariadb_session stranger_;
};

BOOST_AUTO_TEST_CASE(the_modelled_table_finds_what_the_real_one_finds)
{
    const mariadb_server server;
    dice random(1);
    mariadb_table real(server, random);
    sql_model model;
    model.passes_over = true;
    const comparison all = compare_with_model(real, model, random, true);
    BOOST_TEST(all.failed == 0u);
    BOOST_TEST_MESSAGE(real.in_vain << " short statements in vain");
    for (const auto& [kind, count] : real.enough)
        BOOST_TEST_MESSAGE("a short statement of kind " << static_cast<int>(std::get<0>(kind))
                                                        << std::get<1>(kind) << std::get<2>(kind)
                                                        << " was enough " << count << " times");
    BOOST_TEST(real.enough.size() == 8u); // all kinds
}

} // namespace
} // namespace holdfast::test

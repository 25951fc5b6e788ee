// Compares the model of the table with a real server: the same statements, at about the same time,
// must find the same.

#include "verification/stores/sql/fidelity.hpp"

#include "postgresql/encoding.hpp"
#include "postgresql/statements.hpp"
#include "sql/reading.hpp"
#include "support/postgres_server.hpp"

#include <boost/test/unit_test.hpp>

#include <libpq-fe.h>

#include <algorithm>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::test {
namespace {

using simulation::dice;

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

class postgresql_table final : public real_table {
public:
    explicit postgresql_table(const postgres_server& server)
        : connection_(::PQconnectdb(server.where().c_str())),
          stranger_(server)
    {
        run(texts_.create());
        run("SET lock_timeout = '20ms'; SET client_min_messages = error; LISTEN a");
    }

    std::variant<sql::answer, sql::failure> execute(const sql::statement& what) override
    {
        const auto found =
            query(texts_.of(what.what, what.waits), postgresql_store::parameters_of(what));
        if (!found)
            return sql::failure{errc::contended, sql::failure::remedy::pass_over, ""};
        const auto read = sql::answer_in(what.what, what.entries.size(), rows_of(found.get()));
        BOOST_REQUIRE(read.has_value());
        return *read;
    }
    std::variant<sql::reply, sql::failure> execute(const sql::question& what) override
    {
        const auto found =
            query(texts_.of(what.what, what.waits), postgresql_store::parameters_of(what));
        if (!found)
            return sql::failure{errc::contended, sql::failure::remedy::pass_over, ""};
        const auto read = sql::reply_in(what.what, rows_of(found.get()));
        BOOST_REQUIRE(read.has_value());
        return *read;
    }
    void compare_told(sql_model& model) override
    {
        std::vector<std::string> told;
        for (const auto& each : model.turns())
            told.push_back(each.owner);
        for (const auto& each : model.losses())
            told.push_back(each.owner);
        auto really_told = notified();
        std::sort(told.begin(), told.end());
        std::sort(really_told.begin(), really_told.end());
        BOOST_REQUIRE(really_told == told);
    }
    void lock(const std::string& resource, sql_model::lock how) override
    {
        stranger_.run("BEGIN");
        stranger_.run("SELECT 1 FROM holdfast_locks WHERE resource = '" +
                      postgresql_store::bytes_text(resource) + "' FOR " +
                      (how == sql_model::lock::row ? "UPDATE" : "KEY SHARE"));
    }
    void unlock() override { stranger_.run("ROLLBACK"); }

private:
    std::vector<std::string> notified()
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
    void run(const std::string& commands)
    {
        const std::unique_ptr<PGresult, finish> done(::PQexec(connection_.get(), commands.c_str()));
        const auto status = ::PQresultStatus(done.get());
        BOOST_TEST((status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK),
            ::PQresultErrorMessage(done.get()));
    }

    const postgresql_store::statements texts_{"holdfast_locks"};
    std::unique_ptr<PGconn, finish> connection_;
    postgres_session stranger_;
};

BOOST_AUTO_TEST_CASE(the_modelled_table_finds_what_the_real_one_finds)
{
    const postgres_server server;
    postgresql_table real(server);
    sql_model model;
    dice random(1);
    compare_with_model(real, model, random);
}

} // namespace
} // namespace holdfast::test

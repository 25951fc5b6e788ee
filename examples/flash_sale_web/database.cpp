#include "database.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <libpq-fe.h>

#include <utility>

namespace flash_sale_web {

using descriptor = asio::posix::stream_descriptor;

std::string array_of(const std::vector<std::int64_t>& numbers)
{
    std::string text = "{";
    for (const std::int64_t each : numbers)
        text += (text.size() > 1 ? "," : "") + std::to_string(each);
    return text + "}";
}

rows::rows(pg_result* taken) noexcept : result_(taken) {}

void rows::clear::operator()(pg_result* each) const noexcept
{
    ::PQclear(each);
}

std::size_t rows::count() const noexcept
{
    return static_cast<std::size_t>(::PQntuples(result_.get()));
}

std::int64_t rows::number(std::size_t row, std::size_t column) const
{
    if (row >= count())
        throw database_error("PostgreSQL has returned no such row");
    return std::stoll(::PQgetvalue(result_.get(), static_cast<int>(row), static_cast<int>(column)));
}

std::string rows::refusal() const
{
    return ::PQresultErrorMessage(result_.get());
}

connection::connection(asio::any_io_executor executor) : socket_(std::move(executor)) {}

void connection::finish::operator()(pg_conn* each) const noexcept
{
    ::PQfinish(each);
}

connection::~connection()
{
    if (socket_.is_open())
        socket_.release(); // libpq closes it
}

asio::awaitable<void> connection::open(const std::string& where)
{
    connection_.reset(::PQconnectStart(where.c_str()));
    if (!connection_ || ::PQstatus(connection_.get()) == CONNECTION_BAD)
        fail();
    for (auto next = PGRES_POLLING_WRITING; next != PGRES_POLLING_OK;) {
        if (next == PGRES_POLLING_FAILED)
            fail();
        socket_.assign(::PQsocket(connection_.get()));
        co_await wait(
            next == PGRES_POLLING_READING ? descriptor::wait_read : descriptor::wait_write);
        socket_.release(); // the next step may replace it
        next = ::PQconnectPoll(connection_.get());
    }
    socket_.assign(::PQsocket(connection_.get()));
    if (::PQsetnonblocking(connection_.get(), 1) != 0)
        fail();
}

asio::awaitable<rows> connection::query(const char* statement, const parameters& values)
{
    std::vector<const char*> texts;
    for (const std::string& value : values)
        texts.push_back(value.c_str());
    busy_ = true;
    if (::PQsendQueryParams(connection_.get(), statement, static_cast<int>(texts.size()), nullptr,
            texts.data(), nullptr, nullptr, 0) != 1)
        fail();
    for (int left = 1; left != 0;) {
        left = ::PQflush(connection_.get());
        if (left < 0)
            fail();
        if (left > 0)
            co_await wait(descriptor::wait_write);
    }
    rows result(co_await next_result());
    for (pg_result* more = co_await next_result(); more != nullptr; more = co_await next_result())
        ::PQclear(more);
    busy_ = false;
    if (const std::string refusal = result.refusal(); !refusal.empty())
        throw database_error(refusal);
    co_return result;
}

bool connection::reusable() const noexcept
{
    return connection_ && !busy_ && ::PQstatus(connection_.get()) == CONNECTION_OK &&
           ::PQtransactionStatus(connection_.get()) == PQTRANS_IDLE;
}

asio::awaitable<void> connection::wait(descriptor::wait_type what)
{
    co_await socket_.async_wait(what, asio::use_awaitable);
}

asio::awaitable<pg_result*> connection::next_result()
{
    while (::PQisBusy(connection_.get()) != 0) {
        co_await wait(descriptor::wait_read);
        if (::PQconsumeInput(connection_.get()) != 1)
            fail();
    }
    co_return ::PQgetResult(connection_.get());
}

void connection::fail() const
{
    throw database_error(
        connection_ ? ::PQerrorMessage(connection_.get()) : "PostgreSQL: out of memory");
}

connection_pool::connection_pool(
    asio::any_io_executor executor, std::string where, std::size_t limit)
    : executor_(executor),
      where_(std::move(where)),
      free_(std::make_shared<slots>(executor, limit))
{
    for (std::size_t i = 0; i < limit; ++i)
        free_->try_send(boost::system::error_code(), slot());
}

connection_pool::loan::loan(std::shared_ptr<slots> from, slot given) noexcept
    : from_(std::move(from)),
      given_(std::move(given))
{}

connection_pool::loan::~loan()
{
    if (!from_)
        return;
    if (given_ && !given_->reusable())
        given_.reset();
    from_->try_send(boost::system::error_code(), std::move(given_));
}

asio::awaitable<connection_pool::loan> connection_pool::borrow()
{
    slot found = co_await free_->async_receive(asio::use_awaitable);
    loan lent(free_, std::move(found));
    if (!lent.given_) {
        lent.given_ = std::make_shared<connection>(executor_);
        co_await lent.given_->open(where_);
    }
    co_return lent;
}

asio::awaitable<rows> connection_pool::query(const char* statement, const parameters& values)
{
    const loan lent = co_await borrow();
    co_return co_await lent->query(statement, values);
}

} // namespace flash_sale_web

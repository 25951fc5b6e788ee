#include "mysql/connection.hpp"

#include "mysql/error_code.hpp"
#include "sql/text.hpp"

#include <utility>

namespace holdfast::mysql_store {

connection::connection(std::shared_ptr<const settings> all, sql::connection_owner& owner)
    : settings_(std::move(all)),
      texts_(settings_->session.table),
      owner_(owner),
      link_(settings_->link, *this),
      session_(settings_->session, texts_, owner)
{}

void connection::end() noexcept
{
    session_.end();
    link_.close();
}

void connection::on_lost(unsigned number, const std::string& text, core::time_point now)
{
    std::string told = sql::one_line(text);
    if (number == 0)
        return owner_.on_failure(
            {errc::unreachable, sql::failure::remedy::reconnect, std::move(told)}, now);
    owner_.on_failure(connection_failure_of(number, std::to_string(number) + ": " + told), now);
}

bool connection::has_query() const noexcept
{
    return session_.has_query() || (session_.is_ready() && owner_.has_statement());
}

std::optional<std::string> connection::next_query(core::time_point now)
{
    if (!session_.has_query() && session_.is_ready() && owner_.has_statement())
        owner_.send_statement(now);
    return session_.next_query(now);
}

} // namespace holdfast::mysql_store

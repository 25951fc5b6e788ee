#include "redis/node/sentinel_query.hpp"

#include "redis/node/slot_table.hpp"
#include "resp/command.hpp"
#include "resp/number.hpp"

#include <utility>

namespace holdfast::redis {

sentinel_query::sentinel_query(
    const sentinel& asked, const std::string& service, sentinel_query_owner& owner)
    : sentinel_(asked),
      service_(service),
      owner_(owner),
      question_(asked.where, static_cast<question_owner&>(*this))
{}

void sentinel_query::ask(core::time_point end)
{
    state_ = state::asking;
    std::string command;
    resp::append_command(command, {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", service_});
    question_.ask(std::move(command), end);
}

void sentinel_query::stop() noexcept
{
    if (state_ == state::asking)
        state_ = state::idle;
    question_.stop();
}

void sentinel_query::on_answer(reply answer, core::time_point now)
{
    const resp::value& v = answer.front();
    if (v.kind == resp::value_kind::null)
        return on_failed({errc::misconfigured_node, "it knows no service " + service_}, now);
    std::int64_t port = 0;
    if (answer.size() != 3 || v.kind != resp::value_kind::array || !is_host(answer[1].text) ||
        !resp::parse_integer(answer[2].text, port) || port < 1 || port > 65535)
        return on_failed({errc::protocol_error, "its answer is no address"}, now);
    answer_ = {
        .host = std::string(answer[1].text), .port = static_cast<std::uint16_t>(port), .path = {}};
    state_ = state::answered;
    owner_.on_settled(now);
}

void sentinel_query::on_error(std::string_view text, failure why, core::time_point now)
{
    if (text.starts_with("ERR unknown command"))
        return on_failed({errc::misconfigured_node, "it is no sentinel"}, now);
    on_failed(std::move(why), now);
}

void sentinel_query::on_failed(failure why, core::time_point now)
{
    why_ = std::move(why);
    state_ = state::failed;
    owner_.on_settled(now);
}

} // namespace holdfast::redis

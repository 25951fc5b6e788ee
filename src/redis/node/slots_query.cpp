#include "redis/node/slots_query.hpp"

#include "resp/command.hpp"

#include <string>
#include <utility>

namespace holdfast::redis {

namespace {

// For some 10,000 ranges of slots, with replicas.
constexpr resp::reader_limits limits{.line = 64 * 1024,
    .blob = 64 * 1024,
    .elements = 400'000,
    .depth = 8,
    .reply = 8 * 1024 * 1024};

} // namespace

slots_query::slots_query(const node_settings& settings, slots_query_owner& owner)
    : settings_(settings),
      owner_(owner),
      question_({}, static_cast<question_owner&>(*this), limits)
{
    if (settings_.tls != nullptr)
        layer_ = settings_.tls->wrap(question_, {});
}

void slots_query::ask(core::address where, core::time_point end)
{
    question_.aim(std::move(where));
    std::string command;
    resp::append_command(command, {"CLUSTER", "SLOTS"});
    question_.ask(std::move(command), end);
}

credentials slots_query::login()
{
    if (settings_.login)
        return settings_.login(question_.target());
    return {.user = settings_.user, .password = settings_.password};
}

void slots_query::on_answer(reply answer, core::time_point now)
{
    owner_.on_slots(answer, now);
}

void slots_query::on_error(std::string_view text, failure why, core::time_point now)
{
    if (text.starts_with("ERR This instance has cluster support disabled") ||
        text.starts_with("ERR unknown command"))
        return on_failed({errc::misconfigured_node, "it is no member of a cluster"}, now);
    on_failed(std::move(why), now);
}

} // namespace holdfast::redis

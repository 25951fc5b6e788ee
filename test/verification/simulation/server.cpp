#include "verification/simulation/server.hpp"

#include "support/node_record.hpp"

#include <optional>
#include <utility>

namespace holdfast::simulation {

namespace {

constexpr std::size_t longest = 40;     // length of a word in the trace
constexpr std::size_t most_shown = 100; // of the members of a set

std::string content_of(const test::redis_model::item& item)
{
    std::string all = item.value;
    if (item.members.size() > most_shown)
        return std::to_string(item.members.size()) + " members";
    for (const auto& [score, name] : item.members.all())
        all.append(all.empty() ? "" : ", ").append(name.substr(0, longest));
    return all;
}

std::string one_line(std::string_view bytes)
{
    std::string all;
    for (const char c : bytes) {
        if (c != '\r')
            all += c == '\n' ? ' ' : c;
    }
    return all;
}

} // namespace

server::server(std::size_t number, schedule& time, network& net, referee& judge, wall_clock clock,
    std::uint64_t run)
    : number_(number),
      time_(time),
      network_(net),
      thread_(time),
      witness_(number, time, judge),
      clock_(clock),
      run_(run),
      model_(next_run_id()),
      snapshot_(model_.contents())
{
    model_.before = [this](test::redis_model::arguments command) {
        witness_.before(command, model_, wall());
        thread_.spend(cost_of(command));
        if (trace_)
            note(command);
        if (forbids_subscriptions_ && command.front() == "SUBSCRIBE")
            return std::optional<std::string>("-NOPERM no channel for you\r\n");
        return std::optional<std::string>();
    };
    model_.on_push = [this](std::uint64_t session, std::string_view bytes) {
        network_.push_to_client(number_, session, bytes);
        if (trace_)
            trace_("node " + std::to_string(number_) + " pushes to session " +
                   std::to_string(session) + ": " + one_line(bytes));
    };
    model_.on_change = [this](const std::string& key, const test::redis_model::item* item) {
        witness_.key_changed(key, item, wall());
        if (trace_)
            trace_("node " + std::to_string(number_) + " now has " + key + " = " +
                   (item == nullptr ? "nothing" : content_of(*item)));
    };
}

std::string server::next_run_id()
{
    return run_id_ = "node" + std::to_string(number_) + "-" + std::to_string(++run_);
}

nanoseconds server::cost_of(test::redis_model::arguments command) const
{
    const std::string_view name = command.front();
    return name == "EVAL" || name == "EVALSHA" ? costs_.command * node_costs::of_script
                                               : costs_.command;
}

void server::execute(std::string_view command)
{
    test::redis_model::session session;
    std::string replies;
    model_.receive(session, command, wall(), replies);
}

void server::remember(const redis::fence_settings& terms)
{
    test::remember(model_, terms, run_id_);
    take_snapshot();
}

void server::flush()
{
    witness_.accident(true);
    execute("FLUSHALL\r\n");
    witness_.accident(false);
}

void server::lose_locks()
{
    std::string all;
    for (const auto& [key, item] : model_.contents()[0]) {
        if (key.starts_with("hf:l:"))
            all += " " + key;
    }
    witness_.accident(true);
    if (!all.empty())
        execute("DEL" + all + "\r\n");
    witness_.accident(false);
}

void server::note(test::redis_model::arguments command) const
{
    std::string line = "node " + std::to_string(number_) + " executes";
    for (const std::string_view word : command)
        line.append(" ").append(word.substr(0, longest));
    trace_(line);
}

void server::thaw()
{
    frozen_ = false;
    thread_.go_on();
    network_.retry();
}

void server::crash(bool host_too)
{
    up_ = false;
    frozen_ = false;
    thread_.forget_all();
    network_.server_died(number_, host_too);
}

void server::restart(memory what)
{
    test::redis_model::data contents(model_.contents().size());
    if (what == memory::everything)
        contents = model_.contents();
    else if (what == memory::a_snapshot)
        contents = snapshot_;
    model_.restart(next_run_id(), std::move(contents));
    witness_.restarted(model_);
    up_ = true;
    network_.retry();
}

void server::expire()
{
    if (up_ && !frozen_)
        model_.expire(wall());
}

void server::on_bytes(
    test::redis_model::session& session, std::string_view bytes, std::string& replies)
{
    thread_.spend(costs_.of_bytes(bytes.size()));
    model_.receive(session, bytes, wall(), replies);
}

std::size_t server::keys() const
{
    std::size_t count = 0;
    for (const auto& database : model_.contents()) {
        for (const auto& [key, item] : database)
            count += witness::lock_named(key) && model_.find(key, wall()) != nullptr ? 1u : 0u;
    }
    return count;
}

void server::check_places(nanoseconds since) const
{
    witness_.check_places(since, model_, wall());
}

std::string server::describe_keys() const
{
    std::string all;
    for (const auto& database : model_.contents()) {
        for (const auto& [key, item] : database) {
            if (witness::lock_named(key) && model_.find(key, wall()) != nullptr)
                all += " " + key + "=" + content_of(item);
        }
    }
    return all;
}

} // namespace holdfast::simulation

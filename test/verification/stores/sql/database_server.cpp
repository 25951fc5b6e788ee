#include "verification/stores/sql/database_server.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sql_simulation {

namespace {

constexpr std::int64_t epoch = 1'000'000'000'000'000; // of the first clock, in microseconds
constexpr duration latest_execution = 10s;            // of a statement whose client is gone

} // namespace

database_server::database_server(world& w) : world_(w), rate_(0.997 + 0.006 * w.random.fraction())
{}

std::int64_t database_server::clock()
{
    const auto passed = static_cast<double>(world_.now().time_since_epoch().count()) * rate_ / 1000;
    return epoch + static_cast<std::int64_t>(passed) - back_;
}

void database_server::freeze(duration length)
{
    thaws_at_ = std::max(thaws_at_, world_.now() + length);
}

void database_server::set_clock_back(duration by)
{
    back_ += std::chrono::duration_cast<std::chrono::microseconds>(by).count();
    was_set_ = true;
}

void database_server::remember()
{
    standby_ = model.rows;
}

void database_server::forget()
{
    model.rows = standby_;
}

void database_server::lock_row(
    const std::string& resource, test::sql_model::lock how, duration length)
{
    if (!model.rows.contains(resource) || !model.locked.emplace(resource, how).second)
        return;
    world_.after(length, [this, resource] { model.locked.erase(resource); });
}

std::variant<sql::answer, sql::failure> database_server::execute(const test::kept_statement& what)
{
    model.clock = clock();
    return model.execute(what.get());
}

connection::connection(
    world& w, database_server& server, process& runs, std::string channel, bool told)
    : world_(w),
      server_(server),
      process_(runs),
      channel_(std::move(channel)),
      told_(told)
{}

void connection::begin()
{
    const std::uint64_t of = ++incarnation_;
    const duration takes = world_.random.of_any_size(1ms, 100ms);
    world_.at(std::max(world_.now() + takes, server_.thaws_at()), [this, of] {
        const bool refused = world_.random.chance(server_.trouble.refused);
        const time_point asked = process_.now() - 100us;
        process_.deliver([this, of, asked, refused, clock = server_.clock()] {
            if (of != incarnation_ || over_)
                return;
            if (refused) {
                cut_off_ = errc::unreachable;
                owner_->on_cut_off(errc::unreachable, process_.now());
                world_.after(world_.random.of_any_size(1ms, 500ms), [this] { begin(); });
            } else {
                up_ = true;
                cut_off_ = errc{};
                last_delivery_ = world_.now();
                owner_->on_up(clock, asked, process_.now());
            }
            on_turn_end();
        });
    });
}

void connection::flush(time_point now)
{
    if (up_ && !busy_ && owner_->has_statement())
        owner_->send_statement(now);
}

void connection::send(const sql::statement& what, time_point)
{
    busy_ = true;
    const troubles& t = server_.trouble;
    const test::kept_statement kept(what);
    if (world_.random.chance(t.lost_statement))
        return world_.after(world_.random.of_any_size(1ms, 1s), [this, of = incarnation_] {
            process_.deliver([this, of] {
                if (of == incarnation_)
                    break_off();
            });
        });
    const bool late = world_.random.chance(t.late_statement);
    if (late)
        world_.after(1ms, [this, of = incarnation_] {
            process_.deliver([this, of] {
                if (of == incarnation_)
                    break_off();
            });
        });
    const duration takes = late ? world_.random.of_any_size(1ms, latest_execution)
                                : world_.random.of_any_size(20us, t.slowest);
    world_.at(std::max(world_.now() + takes, server_.thaws_at()),
        [this, kept, of = incarnation_] { execute(kept, of); });
}

void connection::execute(const test::kept_statement& what, std::uint64_t of)
{
    const troubles& t = server_.trouble;
    std::variant<sql::answer, sql::failure> found;
    if (world_.random.chance(t.error))
        found = sql::failure{errc::node_error,
            world_.random.chance(0.5) ? sql::failure::remedy::later : sql::failure::remedy::refuse,
            "trouble"};
    else
        found = server_.execute(what);
    on_executed();
    if (of != incarnation_)
        return;
    if (world_.random.chance(t.lost_answer))
        return world_.after(world_.random.of_any_size(1ms, 1s), [this, of] {
            process_.deliver([this, of] {
                if (of == incarnation_)
                    break_off();
            });
        });
    deliver([this, found] {
        busy_ = false;
        if (const auto* const failed = std::get_if<sql::failure>(&found))
            owner_->on_failure(*failed, process_.now());
        else
            owner_->on_answer(std::get<sql::answer>(found), process_.now());
    });
}

void connection::deliver(std::function<void()> what)
{
    const troubles& t = server_.trouble;
    const duration takes = world_.random.chance(t.late_answer)
                               ? world_.random.of_any_size(50ms, 2s)
                               : world_.random.of_any_size(20us, t.slowest);
    last_delivery_ = std::max(last_delivery_, world_.now() + takes);
    world_.at(last_delivery_, [this, of = incarnation_, what = std::move(what)] {
        process_.deliver([this, of, what] {
            if (of != incarnation_ || over_)
                return;
            what();
            on_turn_end();
        });
    });
}

bool connection::listens(const std::string& owner) const
{
    return up_ && told_ && owner.ends_with("@" + channel_);
}

void connection::notify(const test::sql_model::turn& turn)
{
    if (world_.random.chance(server_.trouble.lost_notification))
        return;
    deliver([this, turn] { owner_->on_turn(turn.owner, turn.tokens, process_.now()); });
}

void connection::break_off()
{
    if (!up_ || over_)
        return;
    disconnect();
    on_turn_end();
}

void connection::fail(errc, std::string, time_point)
{
    if (up_)
        disconnect();
}

void connection::disconnect()
{
    ++incarnation_;
    up_ = busy_ = false;
    owner_->on_down(process_.now());
    world_.after(world_.random.of_any_size(1ms, 100ms), [this] {
        process_.deliver([this] {
            if (!over_ && !up_)
                begin();
        });
    });
}

} // namespace holdfast::sql_simulation

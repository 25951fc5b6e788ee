#pragma once

#include "sql/lock_core.hpp"
#include "support/model_database.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

using namespace std::chrono_literals;

inline core::owner_token token_for(std::uint64_t tag, char client)
{
    core::owner_token token;
    token.text.fill('A');
    token.text[0] = client;
    const std::string digits = std::to_string(tag);
    digits.copy(token.text.data() + 1, token.text.size() - 1);
    return token;
}

/// One store of locks, connected to the modelled table. Time passes by `sql_world::pass()` alone.
class sql_client {
public:
    sql_client(sql_model& table, const core::time_point& time, char name)
        : database(new model_database(table, std::string("channel_") + name)),
          core({.about = {.name = "sql"}, .request_timeout = {}},
              std::unique_ptr<sql::database>(database), 1),
          now(time),
          name_(name)
    {
        database->connect(now);
    }

    core::claim_id ask(std::uint64_t tag, std::string_view resource = "a",
        core::queueing queue = core::queueing::if_contended, core::duration ttl = 9s,
        bool lingers = false, bool whole_ttl = false)
    {
        core::claim_params terms{.ttl = ttl, .drift = 10ms, .guard = 100ms, .queue = queue};
        terms.lingers = lingers;
        terms.whole_ttl = whole_ttl;
        const core::claim_id id = core.attempt(tag, resource, token_for(tag, name_), terms, now);
        settle();
        return id;
    }
    std::string owner(std::uint64_t tag) const
    {
        return std::string(token_for(tag, name_).view()) + "@channel_" + name_;
    }

    /// The end of a turn of the loop: due timers, and what has gathered is sent.
    void settle()
    {
        if (core.wake_at() <= now)
            core.wake(now, now);
        database->flush(now);
        while (auto e = core.next_event())
            events.push_back(*e);
    }
    /// The database executes and answers everything.
    void serve()
    {
        settle();
        while (database->under_way() || database->asked()) {
            if (database->asked()) {
                database->reply(now);
                settle();
                continue;
            }
            if (!database->is_executed())
                database->execute();
            database->answer(now);
            settle();
        }
    }
    /// The only event since the last call.
    core::backend_event event()
    {
        settle();
        BOOST_REQUIRE(events.size() == 1u);
        const core::backend_event e = events.front();
        events.clear();
        return e;
    }
    bool is_event(core::event_kind kind, std::uint64_t tag)
    {
        const core::backend_event e = event();
        return e.kind == kind && e.tag == tag;
    }
    bool sends(sql::action what, std::size_t entries) const
    {
        return database->under_way() && database->under_way()->get().what == what &&
               database->under_way()->get().entries.size() == entries;
    }

    model_database* database; // the core owns it
    sql::lock_core core;
    std::vector<core::backend_event> events;
    const core::time_point& now;

private:
    char name_;
};

/// Two stores of locks on one table, as in two processes.
struct sql_world {
    sql_model model;
    core::time_point now = core::time_point(1000s);
    sql_client a{model, now, 'a'}, b{model, now, 'b'};

    void pass(core::duration length)
    {
        now += length;
        model.clock += std::chrono::duration_cast<std::chrono::microseconds>(length).count();
        a.settle();
        b.settle();
    }
    sql_client& client_of(std::string_view address)
    {
        return address.find("channel_a") != address.npos ? a : b;
    }
    // The database tells the owners that have been given a resource, or have lost it, and those
    // that wait for such an answer.
    void tell()
    {
        for (const sql_model::turn& each : model.turns())
            client_of(each.owner).database->tell(each, now);
        for (const sql_model::loss& each : model.losses())
            client_of(each.owner).database->tell_loss(each, now);
        for (const sql_model::loss& each : model.heard())
            client_of(each.address).database->tell_heard(each.owner);
        a.settle();
        b.settle();
    }
    // `a` has the resource.
    core::claim_id hold(std::uint64_t tag = 1, core::queueing queue = core::queueing::if_contended)
    {
        const core::claim_id id = a.ask(tag, "a", queue);
        a.serve();
        BOOST_TEST(a.is_event(core::event_kind::granted, tag));
        return id;
    }
    // `b` waits behind it.
    core::claim_id queue(std::uint64_t tag = 2)
    {
        const core::claim_id id = b.ask(tag);
        b.serve();
        BOOST_TEST(b.is_event(core::event_kind::queued, tag));
        return id;
    }
    bool is_free(const std::string& resource = "a")
    {
        const auto& r = model.rows[resource];
        return r.owner.empty() && r.waiters.empty();
    }
};

} // namespace holdfast::test

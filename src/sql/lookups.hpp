#pragma once

#include "core/backoff.hpp"
#include "core/inspection.hpp"
#include "sql/database.hpp"
#include "sql/survey.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::sql {

// Tells people who holds locks, and takes locks away. Statements for locks go first, unless a
// question has waited for long.
class lookups final : public core::inspector {
public:
    // It outlives this. `store`: the name of it. `patience`: how long an answer may take.
    lookups(database& server, std::string store, core::duration patience, std::uint64_t seed);

    // core::inspector
    void introduce(const core::client_identity&, core::time_point) override {} // no row has it
    std::uint32_t client_id() const noexcept override { return id_; }
    void begin(const core::inspection_request& request, core::time_point now) override;
    void forget(std::uint64_t tag) override;
    std::optional<core::inspection_result> next_result() override;

    bool has_question() const noexcept { return !asked_ && (!debts_.empty() || next() != none); }
    bool is_under_way() const noexcept { return asked_.has_value(); }
    // Whether a question has waited so long that it goes before statements for locks.
    bool is_urgent(core::time_point now) const noexcept;
    // Precondition: has_question(), and nothing is under way.
    void ask(core::time_point now);

    void replied(const reply& what, core::time_point now);
    void failed(const failure& why, core::time_point now);
    // The question under way has no answer, and may have been executed.
    void disconnected();
    void cut_off(errc why);
    // A locker has taken a resource from an owner here, and wants to know that it is told.
    void owe_answer(std::string_view owner, std::string_view address, core::time_point now);
    void heard(std::string_view owner);

    // When the question under way has failed if it has no answer until then.
    core::time_point answer_due() const noexcept;
    // It has: nobody is to wait for it any more.
    void overdue();
    core::time_point wake_at() const noexcept;
    void wake(core::time_point now);

private:
    struct lookup {
        survey what;
        bool is_list = false;
        core::time_point step_by{}, all_by{}; // a step, or all of them, may last so long
        core::time_point since{};             // when it wanted to ask
        core::time_point rests_until = core::never;
    };
    using table = std::map<std::uint64_t, lookup>; // by tag
    // Of this library's lockers: an owner was told.
    struct debt {
        std::string owner, address;
        core::time_point since{};
    };
    struct under_way {
        std::uint64_t tag = none; // none: a debt was paid
        std::string address{};    // as it was then
        core::time_point due{};
    };
    static constexpr std::uint64_t none = 0;

    std::uint64_t next() const noexcept;
    void follow(table::iterator each, core::time_point now);
    void give_up(table::iterator each, errc why);
    void finish(table::iterator each);

    database& database_;
    const std::string store_;
    const core::duration patience_;
    const std::uint32_t id_;
    core::jitter jitter_;
    table all_;
    std::deque<debt> debts_;
    std::optional<under_way> asked_;
    std::deque<core::inspection_result> results_;
};

} // namespace holdfast::sql

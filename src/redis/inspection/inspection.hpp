#pragma once

#include "core/inspection.hpp"
#include "core/slot_map.hpp"
#include "redis/dialect/key_names.hpp"
#include "redis/inspection/client_record.hpp"
#include "redis/inspection/inquiry.hpp"
#include "redis/inspection/inspection_calls.hpp"
#include "redis/node/request.hpp"
#include "redis/pool/node_pool.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

namespace holdfast::redis {

// Tells people who holds a lock, and takes it away for them. Uses the same connections as locks do,
// and does nothing else with them: a node is asked one thing at a time, in small steps.
class inspection final : public core::inspector {
public:
    inspection(node_pool& nodes, key_names& names, client_settings settings);

    // core::inspector
    std::uint32_t client_id() const noexcept override { return record_.id(); }
    void introduce(const core::client_identity& self, core::time_point now) override;
    void begin(const core::inspection_request& request, core::time_point now) override;
    void forget(std::uint64_t tag) override;
    std::optional<core::inspection_result> next_result() override;

    // Deletes the client record for good.
    void withdraw(core::time_point now);
    const client_record& record() const noexcept { return record_; }

    void on_ready(std::size_t node, core::time_point now);
    void on_down(std::size_t node, core::time_point now);
    void on_reply(std::size_t node, const request& r, reply answer, core::time_point now);
    void lose_answer(std::size_t node, const request& r, core::time_point now);

    core::time_point wake_at() const noexcept { return std::min(due_, record_.wake_at()); }
    void wake(core::time_point now);

private:
    using part = inquiry::part;

    // Starts the current stage, and the next ones as long as there is nothing to wait for.
    void enter_stage(core::slot_id id, inquiry::stage next, core::time_point now);
    // The next stage, once all parts of this one are over.
    void go_on(core::slot_id id, core::time_point now);
    void finish(core::slot_id id);
    void arm() noexcept;

    void ask(core::slot_id id, std::size_t node, core::time_point now);
    void send(core::slot_id id, std::size_t node, request_kind kind, std::string_view command,
        core::time_point now);
    void send_taking(core::slot_id id, std::size_t node, core::time_point now);

    // False if it is not an answer to the request.
    bool on_view(inquiry& q, std::size_t node, reply answer);
    bool on_scan(inquiry& q, std::size_t node, reply answer, core::time_point now);
    bool on_clients(core::slot_id id, std::size_t node, reply answer, core::time_point now);
    bool on_taken(inquiry& q, std::size_t node, reply answer);

    template <class Visit>
    void for_each_inquiry(const Visit& visit);

    node_pool& nodes_;
    inspection_calls calls_;
    client_record record_;
    core::slot_map<inquiry> inquiries_;
    std::deque<core::inspection_result> results_;
    core::time_point due_ = core::never; // of the inquiries
};

} // namespace holdfast::redis

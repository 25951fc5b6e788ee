#pragma once

#include "core/inspection.hpp"
#include "etcd/wire/messages.hpp"

#include <holdfast/inspect.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace holdfast::etcd_store {

// Finds out who holds one resource, or all resources whose names begin alike: says what is to be
// asked next, and reads the answers.
class survey {
public:
    struct question {
        std::string_view path;
        std::string message;
    };
    using findings = std::variant<resource_report, lock_list>;

    // `prefix`: of all keys. `name`: a resource, or the beginning of names.
    survey(core::inspection_task task, std::string prefix, std::string name);

    core::inspection_task task() const noexcept { return task_; }

    // None: all was asked.
    std::optional<question> next() const;
    // The answer to next(). False if it is none.
    bool read(std::string_view answer);
    // Leaves next() out. False if nothing can be told without it.
    bool skip();
    // Forgets all answers.
    void restart();

    findings found() const;

private:
    // The keys of one resource that tell something: all, the oldest first, or in a list the oldest.
    struct queue {
        std::vector<wire::listed_key> keys;
        bool ours = false; // one of the keys is a token of this library
    };

    bool is_list() const noexcept { return task_ == core::inspection_task::list; }
    void add(wire::listed_key&& key);
    void note_leases();
    template <class Report>
    void fill(Report& to, const queue& from) const;
    std::string_view token_in(const wire::listed_key& key) const;
    resource_report report() const;
    lock_list list() const;

    const core::inspection_task task_;
    const std::string prefix_, name_;
    wire::key_range unread_;              // of the keys; empty: all were read
    std::map<std::string, queue> queues_; // by resource
    std::size_t pages_ = 0;
    bool cut_off_ = false;             // there is more than is read
    std::vector<std::int64_t> leases_; // to ask for, the last one first
    std::map<std::int64_t, std::chrono::milliseconds> left_;
};

} // namespace holdfast::etcd_store

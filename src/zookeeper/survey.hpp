#pragma once

#include "core/inspection.hpp"
#include "zookeeper/node_names.hpp"
#include "zookeeper/wire/messages.hpp"

#include <holdfast/inspect.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::zookeeper_store {

// Finds out who holds one resource, or all resources whose names begin alike: says what is to be
// asked next, and reads the answers.
class survey {
public:
    using findings = std::variant<resource_report, lock_list>;

    // `paths` outlives it. `name`: a resource, or the beginning of names.
    survey(core::inspection_task task, const node_paths& paths, std::string name);

    core::inspection_task task() const noexcept { return task_; }

    // None: all was asked.
    std::optional<wire::request> next() const;
    // The answer to next(). False if it tells that nothing can be found out.
    bool read(std::int32_t error, const wire::reply_body& body);
    // Forgets all answers.
    void restart();

    findings found() const;

private:
    struct lock_node {
        std::string name, data{};
        wire::node_stat stat{};
        bool exists = true;
    };
    // The nodes of one resource that tell something: all, in order, or in a list the first one.
    struct queue {
        std::string resource;
        std::vector<lock_node> nodes{};
        std::size_t read = 0; // nodes whose data has been read
        bool listed = false;
    };

    bool is_list() const noexcept { return task_ == core::inspection_task::list; }
    void add_nodes(const std::vector<std::string>& names);
    template <class Report>
    void fill(Report& to, const lock_node& holder) const;
    resource_report report() const;
    lock_list list() const;

    const core::inspection_task task_;
    const node_paths& paths_;
    const std::string name_;
    bool knows_resources_ = false;
    bool cut_off_ = false;    // there is more than is read
    std::size_t current_ = 0; // the queue that is asked for
    std::vector<queue> queues_;
};

} // namespace holdfast::zookeeper_store

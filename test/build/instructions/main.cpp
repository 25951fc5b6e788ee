// Acquires and releases through the cores of the library, on five modelled nodes, for counting its
// instructions; see count. Every run is the same: no sockets, no clock, no randomness.
#include "counted.hpp"

#include "redis/redlock_core.hpp"
#include "support/redis_model.hpp"
#include "support/times.hpp"

#include <deque>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

using namespace holdfast;
using namespace std::chrono_literals;
using test::redis_model;

constexpr std::size_t node_count = 5;
constexpr std::size_t resources = 64; // used in turn
constexpr std::size_t warm_up = 3 * resources;

// Different bits at each call, but the same in each run.
class counter final : public core::entropy {
public:
    bool fill(std::span<std::byte> out) noexcept override
    {
        for (std::byte& b : out)
            b = static_cast<std::byte>(bits_.next());
        return true;
    }

private:
    core::jitter bits_{1};
};

struct modelled_node {
    explicit modelled_node(std::size_t i) : server("node" + std::to_string(i)) {}

    redis_model server;
    redis_model::session session{};
    std::string answers{};
};

redis::redlock_core make_backend()
{
    std::vector<redis::node_settings> settings(node_count);
    for (std::size_t i = 0; i < node_count; ++i) {
        const std::string name = "node" + std::to_string(i);
        settings[i] = {.where = {.host = name, .port = 6379, .path = {}},
            .name = name,
            .user = {},
            .password = {},
            .client_name = {},
            .connect_timeout = 2s,
            .silence_timeout = 10s,
            .reconnect_min = 50ms,
            .reconnect_max = 2s,
            .max_requests = 65'536,
            .max_bytes = 16 * 1024 * 1024};
    }
    return redis::redlock_core(std::move(settings), std::nullopt, 1);
}

class world {
public:
    world()
    {
        for (std::size_t i = 0; i < node_count; ++i)
            nodes_.emplace_back(i);
        locker_.wake(now_);
        for (core::connection* const c : backend_.connections())
            c->opened(now_);
        serve_all();
    }

    void acquire_and_release(std::size_t i)
    {
        now_ += 100us;
        const std::string name = "stock:" + std::to_string(i % resources);
        counted::acquire(locker_, ++last_tag_, name, terms_, now_);
        serve_all();
        counted::release(locker_, expect(core::effect_kind::acquired).lease, ++last_tag_, now_);
        now_ += 100us;
        serve_all();
        if (expect(core::effect_kind::released).outcome != release_outcome::released)
            throw std::runtime_error("the lease was not released");
    }

private:
    // Works like io: sends all output to a node at once, reads each node's answers on their own,
    // and handles the effects after each.
    void serve_all()
    {
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t i = 0; i < node_count; ++i)
                changed = serve(*backend_.connections()[i], nodes_[i]) || changed;
        }
    }

    bool serve(core::connection& connection, modelled_node& node)
    {
        const std::string_view output = counted::output(connection);
        if (output.empty())
            return false;
        node.server.receive(node.session, output,
            std::chrono::floor<redis_model::time>(now_.time_since_epoch()), node.answers);
        counted::written(connection, output.size(), now_);
        counted::receive(connection, node.answers, now_);
        node.answers.clear();
        counted::wake(locker_, now_);
        while (const auto e = counted::next_effect(locker_))
            effects_.push_back(*e);
        counted::wake_at(locker_);
        return true;
    }

    core::effect expect(core::effect_kind wanted)
    {
        while (!effects_.empty()) {
            const core::effect e = effects_.front();
            effects_.pop_front();
            if (e.kind == wanted)
                return e;
        }
        throw std::runtime_error("an expected effect is missing");
    }

    core::time_point now_ = test::start;
    std::deque<modelled_node> nodes_;
    redis::redlock_core backend_ = make_backend();
    counter entropy_;
    core::locker_core locker_{backend_, entropy_, locker_options{}, 1};
    const core::lease_params terms_{.ttl = 10s,
        .drift = 102ms,
        .guard = 500ms,
        .max_hold = forever,
        .handoff_time = 2'500ms,
        .handoff_limit = 64};
    std::deque<core::effect> effects_;
    std::uint64_t last_tag_ = 0;
};

} // namespace

int main(int argc, char** argv)
try {
    if (argc != 2)
        throw std::invalid_argument("usage: instructions <number of acquires and releases>");
    world all;
    for (std::size_t i = 0; i < warm_up; ++i)
        all.acquire_and_release(i);
    begin_to_count();
    const std::size_t number = std::stoul(argv[1]);
    for (std::size_t i = 0; i < number; ++i)
        all.acquire_and_release(i);
} catch (const std::exception& e) {
    std::cerr << "instructions: " << e.what() << '\n';
    return 2;
}

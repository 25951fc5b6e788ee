#include "verification/stores/zookeeper/client.hpp"

#include "verification/stores/zookeeper/link.hpp"

#include <string>
#include <utility>

namespace holdfast::zookeeper_simulation {

std::shared_ptr<const zookeeper_store::lock_settings> client::settings(
    const ensemble& servers, duration session_timeout)
{
    auto made = std::make_shared<zookeeper_store::lock_settings>();
    for (std::size_t i = 0; i < servers.size(); ++i) {
        const std::string name = "s" + std::to_string(i);
        made->ensemble.servers.push_back(
            {.where = {.host = name, .port = 1, .path = {}}, .name = name});
    }
    made->ensemble.session_timeout = session_timeout;
    made->ensemble.connect_timeout = 1s;
    made->ensemble.reconnect_min = 10ms;
    made->ensemble.reconnect_max = 500ms;
    made->root = "/holdfast";
    made->rights = {{31, "world", "anyone"}};
    made->client_name = "client";
    return made;
}

client::client(world& w, store_simulation::referee& judge, const store_simulation::client_params& p,
    ensemble& servers, const client_character& c, std::function<void()> on_turn)
    : byte_client(w, judge, p,
          {.clock_error = 0.004,
              .slow_clocks = c.slow_clock ? 1.0 : 0,
              .lingering = 0.1,
              .stubbornness = c.stubborn ? 1.0 : 0,
              .most_transfers = 100}),
      world_(w),
      ensemble_(servers),
      on_turn_(std::move(on_turn)),
      core_(settings(servers, p.ttl), w.random.bits())
{}

std::shared_ptr<store_simulation::byte_link> client::open(std::size_t server)
{
    due_anew_ = false;
    const auto opened =
        std::make_shared<link>(world_, ensemble_, server, [this] { return secluded_until_; });
    opened->open();
    return opened;
}

void client::seclude(duration length)
{
    secluded_until_ = std::max(secluded_until_, world_.now() + length);
}

void client::after_answers(std::size_t count, bool anew, std::function<void(std::size_t)> what)
{
    answers_due_ = count;
    due_anew_ = anew;
    due_ = std::move(what);
}

void client::heard(std::size_t server)
{
    if (answers_due_ == 0 || due_anew_ || --answers_due_ != 0)
        return;
    const auto what = std::exchange(due_, nullptr);
    what(server);
}

} // namespace holdfast::zookeeper_simulation

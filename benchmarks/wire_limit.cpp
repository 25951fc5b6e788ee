#include "wire_limit.hpp"

#include "redis/node/scripts.hpp"
#include "redis/quorum/majority.hpp"
#include "wire_connection.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <string>
#include <string_view>

namespace benchmark {
namespace {

std::string encoded(const std::vector<std::string>& words)
{
    std::string out = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string& word : words)
        out += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
    return out;
}

struct resource {
    std::string set, remove, pass_on; // encoded
    std::uint32_t step = 0;           // even: its SETs are under way; odd: its deletions
    std::size_t answers = 0;          // to this step
    clock::time_point asked, acquired;
};

class wire {
public:
    wire(const std::vector<std::uint16_t>& ports, const load& wanted);
    ~wire() { ::close(poll_); }
    wire(const wire&) = delete;
    wire& operator=(const wire&) = delete;

    result run();

private:
    void connect(const std::vector<std::uint16_t>& ports);
    void encode(std::size_t i);
    void send_step(std::size_t i);
    void on_reply(expected_reply reply);
    void turn();
    void flush(std::size_t node);
    void run_until(clock::time_point end);

    load wanted_;
    meter meter_;
    std::deque<wire_connection> nodes_;
    std::vector<bool> stuck_; // the socket is full
    std::vector<resource> resources_;
    std::size_t majority_;
    bool stopping_ = false;
    int poll_ = ::epoll_create1(0);
};

wire::wire(const std::vector<std::uint16_t>& ports, const load& wanted)
    : wanted_(wanted),
      meter_(wanted),
      stuck_(ports.size()),
      resources_(wanted.concurrency),
      majority_(holdfast::redis::majority(ports.size()))
{
    connect(ports);
    for (std::size_t i = 0; i < resources_.size(); ++i)
        encode(i);
}

void wire::connect(const std::vector<std::uint16_t>& ports)
{
    using namespace holdfast::redis;
    for (const std::uint16_t port : ports) {
        wire_connection& node = nodes_.emplace_back(port);
        for (const script& s : {release_script, pass_on_script})
            node.ask(encoded({"SCRIPT", "LOAD", std::string(s.text)}));
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = nodes_.size() - 1;
        ::epoll_ctl(poll_, EPOLL_CTL_ADD, node.handle(), &event);
    }
}

void wire::encode(std::size_t i)
{
    using namespace holdfast::redis;
    const std::string key = "limit:" + std::to_string(i), token(32, 'f');
    resources_[i].set = encoded({"SET", key, token, "NX", "PX", "10000"});
    resources_[i].remove =
        encoded({"EVALSHA", std::string(release_script.digest), "1", key, token});
    resources_[i].pass_on = encoded({"EVALSHA", std::string(pass_on_script.digest), "2", key,
        key + std::string(queue_suffix), token, "500", ""});
}

void wire::send_step(std::size_t i)
{
    const resource& r = resources_[i];
    const std::size_t queue_node = i % nodes_.size();
    const expected_reply reply{static_cast<std::uint32_t>(i), r.step};
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
        const bool removing = r.step % 2 != 0;
        nodes_[node].queue(!removing ? r.set : node == queue_node ? r.pass_on : r.remove, reply);
    }
}

void wire::on_reply(expected_reply reply)
{
    resource& r = resources_[reply.resource];
    if (reply.step != r.step || ++r.answers < majority_)
        return; // the reply to a finished step, or no majority yet
    r.answers = 0;
    const bool removed = r.step % 2 != 0;
    ++r.step;
    if (!removed) {
        r.acquired = meter_.now();
    } else {
        meter_.count(r.asked, r.acquired);
        if (stopping_)
            return;
        r.asked = meter_.now();
    }
    send_step(reply.resource);
}

void wire::flush(std::size_t node)
{
    const bool stuck = !nodes_[node].flush();
    if (stuck == stuck_[node])
        return;
    stuck_[node] = stuck;
    epoll_event event{};
    event.events = stuck ? EPOLLIN | EPOLLOUT : EPOLLIN;
    event.data.u64 = node;
    ::epoll_ctl(poll_, EPOLL_CTL_MOD, nodes_[node].handle(), &event);
}

void wire::turn()
{
    for (std::size_t node = 0; node < nodes_.size(); ++node)
        flush(node);
    std::array<epoll_event, 16> events{};
    const int n = ::epoll_wait(poll_, events.data(), static_cast<int>(events.size()), 1'000);
    for (int i = 0; i < n; ++i) {
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        if ((event.events & ~std::uint32_t(EPOLLOUT)) != 0)
            nodes_[event.data.u64].receive([this](expected_reply reply) { on_reply(reply); });
    }
}

void wire::run_until(clock::time_point end)
{
    while (clock::now() < end)
        turn();
}

result wire::run()
{
    for (std::size_t i = 0; i < resources_.size(); ++i) {
        resources_[i].asked = meter_.now();
        send_step(i);
    }
    const auto begin = clock::now() + wanted_.warm_up;
    run_until(begin);
    meter_.begin();
    run_until(begin + wanted_.length);
    meter_.end();

    stopping_ = true; // then waits for all replies, so that no key is left
    for (const wire_connection& node : nodes_) {
        while (!node.idle())
            turn();
    }
    return meter_.take();
}

} // namespace

result run_wire_limit(const std::vector<std::uint16_t>& ports, const load& wanted)
{
    return wire(ports, wanted).run();
}

} // namespace benchmark

// The store of locks in ZooKeeper, with a server that sends anything: no grant comes from nothing,
// each attempt ends once, and no validity is longer than the session.
#include "zookeeper/lock_core.hpp"

#include "fuzz/checks.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace {

using namespace holdfast;
using namespace holdfast::fuzz;
using namespace std::chrono_literals;
namespace zk = holdfast::zookeeper_store;

std::shared_ptr<const zk::lock_settings> settings()
{
    auto made = std::make_shared<zk::lock_settings>();
    made->ensemble.servers.push_back({.where = {.host = "h", .port = 1, .path = {}}, .name = "h"});
    made->ensemble.session_timeout = 9s;
    made->ensemble.connect_timeout = 1s;
    made->ensemble.reconnect_min = made->ensemble.reconnect_max = 10ms;
    made->root = "/l";
    made->rights = {{31, "world", "anyone"}};
    return made;
}

// What has become of an attempt.
struct course {
    bool ended = false, held = false;
};

class scene {
public:
    void play(std::string_view input)
    {
        follow();
        while (!input.empty()) {
            const auto what = static_cast<unsigned char>(input.front());
            input.remove_prefix(1);
            act(what, input);
            follow();
        }
    }

private:
    void act(unsigned char what, std::string_view& input)
    {
        switch (what % 8) {
        case 0:
            return attempt();
        case 1:
            now_ += std::chrono::milliseconds(10) * (what / 8 + 1);
            return;
        case 2:
            if (open_)
                close();
            return;
        case 3:
            for (auto& [id, tag] : ids_) {
                if (all_[tag].held)
                    core_.renew({&id, 1}, what >= 128, now_);
            }
            return;
        case 4:
            return give_back();
        default: {
            const std::size_t length = std::min<std::size_t>(what, input.size());
            send(input.substr(0, length));
            input.remove_prefix(length);
        }
        }
    }
    void attempt()
    {
        core::owner_token token;
        token.text.fill('A');
        token.text[0] = static_cast<char>('A' + last_ % 26);
        const std::uint64_t tag = ++last_;
        const auto id = core_.attempt(tag, last_ % 2 == 0 ? "a" : "b", token,
            {.ttl = 5s,
                .drift = 1ms,
                .guard = 10ms,
                .queue = last_ % 3 == 0 ? core::queueing::none : core::queueing::if_contended},
            now_);
        if (id != 0)
            ids_[id] = tag;
        all_[tag];
    }
    void give_back()
    {
        if (ids_.empty())
            return;
        const auto [id, tag] = *ids_.begin();
        ids_.erase(ids_.begin());
        course& c = all_[tag];
        if (c.held)
            core_.release(id, now_);
        else if (!c.ended)
            core_.abandon(id, now_);
        c.ended = true;
        c.held = false;
    }
    void send(std::string_view bytes)
    {
        core::connection& link = *core_.connections()[0];
        while (!bytes.empty() && open_ && link.wants_open()) {
            const auto space = link.read_space();
            const std::size_t n = std::min(space.size(), bytes.size());
            std::copy_n(bytes.begin(), n, space.begin());
            bytes.remove_prefix(n);
            link.received(n, now_);
            read_events();
        }
    }
    void close()
    {
        open_ = false;
        core_.connections()[0]->closed({}, now_);
    }
    void follow()
    {
        core::connection& link = *core_.connections()[0];
        for (int i = 0; i < 8; ++i) {
            if (core_.wake_at() <= now_)
                core_.wake(now_);
            if (open_ && !link.wants_open()) {
                close();
            } else if (!open_ && link.wants_open()) {
                open_ = true;
                link.opened(now_);
            }
            link.written(link.output().size(), now_);
        }
        read_events();
    }
    void read_events()
    {
        while (const auto e = core_.next_event()) {
            course& c = all_[e->tag];
            switch (e->kind) {
            case core::event_kind::granted:
                check(!c.ended && !c.held, "a grant of an attempt that has not ended");
                check(e->valid.until <= now_ + 5s, "no validity beyond the ttl");
                check(e->valid.until > now_, "a grant that is of use");
                check(e->fence.has_value(), "a token with each grant");
                c.held = true;
                break;
            case core::event_kind::refused:
                check(!c.ended && !c.held, "a refusal of an attempt that has not ended");
                c.ended = true;
                std::erase_if(ids_, [&](const auto& each) { return each.second == e->tag; });
                break;
            case core::event_kind::validity:
                check(c.held, "validity of a lease");
                check(e->valid.until <= now_ + 5s, "no validity beyond the ttl");
                break;
            case core::event_kind::lost:
                check(c.held, "a loss of a lease");
                break;
            default:
                break;
            }
        }
    }

    core::time_point now_{1h};
    zk::lock_core core_{settings(), 1};
    bool open_ = false;
    std::uint64_t last_ = 0;
    std::map<core::claim_id, std::uint64_t> ids_;
    std::map<std::uint64_t, course> all_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    scene().play({reinterpret_cast<const char*>(data), size});
    return 0;
}

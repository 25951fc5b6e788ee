#include "integration/stress/echo_store.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace holdfast::test {

namespace {

void require(bool kept, const char* promise)
{
    if (!kept)
        throw std::logic_error(std::string("io broke its contract: ") + promise);
}

// Checks that calls come one at a time. The thread sanitizer checks more.
class one_at_a_time {
public:
    explicit one_at_a_time(std::atomic<bool>& busy) : busy_(busy)
    {
        require(!busy_.exchange(true), "two calls at once");
    }
    one_at_a_time(const one_at_a_time&) = delete;
    one_at_a_time& operator=(const one_at_a_time&) = delete;
    ~one_at_a_time() { busy_ = false; }

private:
    std::atomic<bool>& busy_;
};

// Sends numbers, and reports those that come back, in order.
class echo_connection final : public core::connection {
public:
    class listener {
    public:
        virtual void came_back(std::uint64_t number) = 0;
        virtual void broke() = 0;

    protected:
        ~listener() = default;
    };

    echo_connection(listener& heard, const core::address& target) : heard_(heard), target_(target)
    {}

    bool is_open() const { return open_; }
    void send(std::uint64_t number)
    {
        std::array<char, sizeof number> bytes{};
        std::memcpy(bytes.data(), &number, sizeof number);
        output_.append(bytes.data(), bytes.size());
        expected_.push_back(number);
    }
    void stop() { wanted_ = false; }

    const core::address& target() const noexcept override { return target_; }
    bool wants_open() const noexcept override { return wanted_ && !resting_; }

    void opened(core::time_point) override
    {
        const one_at_a_time guard(busy_);
        require(!open_ && wanted_, "opened a stream that was open or not wanted");
        open_ = true;
        numbers_ = 0;
    }

    void closed(error_code, core::time_point) override
    {
        const one_at_a_time guard(busy_);
        open_ = resting_ = false;
        output_.clear();
        input_.clear();
        expected_.clear();
        heard_.broke();
    }

    std::span<char> read_space() override
    {
        require(open_, "bytes of a closed stream");
        return space_;
    }

    void received(std::size_t n, core::time_point) override
    {
        const one_at_a_time guard(busy_);
        require(open_ && n > 0 && n <= space_.size(), "an impossible number of bytes");
        input_.append(space_.data(), n);
        std::size_t used = 0;
        for (; input_.size() - used >= sizeof(std::uint64_t); used += sizeof(std::uint64_t)) {
            std::uint64_t number = 0;
            std::memcpy(&number, input_.data() + used, sizeof number);
            require(!expected_.empty() && number == expected_.front(), "bytes out of order");
            expected_.pop_front();
            heard_.came_back(number);
            ++numbers_;
        }
        input_.erase(0, used);
        resting_ = numbers_ > 200; // this side closes too
    }

    std::string_view output() const noexcept override { return output_; }
    void written(std::size_t n, core::time_point) override { output_.erase(0, n); }

private:
    listener& heard_;
    const core::address target_;
    std::array<char, 100> space_{}; // small, so that numbers are split
    std::string output_, input_;
    std::deque<std::uint64_t> expected_;
    std::size_t numbers_ = 0;
    bool open_ = false, wanted_ = true, resting_ = false;
    std::atomic<bool> busy_ = false;
};

class echo_core final : public core::backend_core, core::store_cleanup, echo_connection::listener {
public:
    explicit echo_core(const core::address& server) : connection_(*this, server) {}

    core::claim_id attempt(std::uint64_t tag, std::string_view, const core::owner_token&,
        const core::claim_params& terms, core::time_point now) override
    {
        const core::claim_id id = ++latest_;
        if (!connection_.is_open()) {
            push({.kind = core::event_kind::refused,
                .reason = errc::unreachable,
                .tag = tag,
                .transient = true});
            return id;
        }
        claims_[id] = {.tag = tag,
            .valid = {.asked = now, .ttl = terms.ttl, .until = now + terms.ttl - terms.drift}};
        connection_.send(id);
        return id;
    }

    void abandon(core::claim_id id, core::time_point) override { claims_.erase(id); }
    errc pending_error(core::claim_id) const noexcept override { return errc::unreachable; }

    std::optional<std::uint64_t> transfer(core::claim_id id, std::uint64_t tag) override
    {
        claims_.at(id).tag = tag;
        return std::nullopt;
    }

    void renew(std::span<const core::claim_id>, bool, core::time_point) override {}

    void release(core::claim_id id, core::time_point) override
    {
        claim& c = claims_.at(id);
        c.now = stage::releasing;
        if (connection_.is_open())
            return connection_.send(id);
        push({.kind = core::event_kind::released,
            .outcome = release_outcome::unconfirmed,
            .tag = c.tag});
        claims_.erase(id);
    }

    core::duration patience(core::duration) const noexcept override
    {
        return std::chrono::milliseconds(50);
    }

    std::optional<core::backend_event> next_event() override
    {
        if (events_.empty())
            return std::nullopt;
        const core::backend_event e = events_.front();
        events_.pop_front();
        return e;
    }

    core::time_point wake_at() const noexcept override { return core::never; }
    void wake(core::time_point, core::time_point) override {}
    std::span<core::connection* const> connections() noexcept override { return connections_; }

    void close(core::time_point) override { connection_.stop(); }
    const core::store_info& about() const noexcept override { return info_; }
    core::store_cleanup& cleanup() noexcept override { return *this; }

private:
    // core::store_cleanup
    std::size_t under_way() const noexcept override
    {
        std::size_t count = 0;
        for (const auto& [id, c] : claims_)
            count += c.now == stage::releasing ? 1u : 0u;
        return count;
    }

    enum class stage : std::uint8_t { asking, held, releasing };
    struct claim {
        std::uint64_t tag = 0;
        core::validity valid{};
        stage now = stage::asking;
    };

    void came_back(std::uint64_t number) override
    {
        const auto found = claims_.find(number);
        if (found == claims_.end()) // abandoned
            return;
        claim& c = found->second;
        if (c.now == stage::asking) {
            c.now = stage::held;
            push({.kind = core::event_kind::granted, .tag = c.tag, .valid = c.valid});
        } else {
            push({.kind = core::event_kind::released,
                .outcome = release_outcome::released,
                .tag = c.tag});
            claims_.erase(found);
        }
    }

    void broke() override
    {
        for (auto i = claims_.begin(); i != claims_.end();) {
            const claim& c = i->second;
            if (c.now == stage::held) {
                ++i;
                continue;
            }
            if (c.now == stage::asking)
                push({.kind = core::event_kind::refused,
                    .reason = errc::unreachable,
                    .tag = c.tag,
                    .transient = true});
            else
                push({.kind = core::event_kind::released,
                    .outcome = release_outcome::unconfirmed,
                    .tag = c.tag});
            i = claims_.erase(i);
        }
    }

    void push(const core::backend_event& e) { events_.push_back(e); }

    const core::store_info info_{.name = "echo"};
    echo_connection connection_;
    const std::array<core::connection*, 1> connections_{&connection_};
    std::map<core::claim_id, claim> claims_;
    std::deque<core::backend_event> events_;
    core::claim_id latest_ = 0;
};

class echo_factory final : public core::backend_factory {
public:
    explicit echo_factory(const core::address& server) : server_(server) {}
    std::unique_ptr<core::backend_core> make(std::uint64_t) const override
    {
        return std::make_unique<echo_core>(server_);
    }

private:
    const core::address server_;
};

} // namespace

echo_server::echo_server()
    : acceptor_(io_, asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
      port_(acceptor_.local_endpoint().port())
{
    asio::co_spawn(io_, accept(), asio::detached);
    thread_ = std::thread([this] { io_.run(); });
}

echo_server::~echo_server()
{
    io_.stop();
    thread_.join();
}

asio::awaitable<void> echo_server::accept()
{
    for (;;) {
        auto socket = co_await acceptor_.async_accept(asio::use_awaitable);
        const std::size_t number = ++connections_;
        asio::co_spawn(io_, serve(std::move(socket), 500 + number * 997 % 3000), asio::detached);
    }
}

asio::awaitable<void> echo_server::serve(asio::ip::tcp::socket socket, std::size_t until)
{
    std::array<char, 1000> buffer{};
    for (std::size_t served = 0; served < until;) {
        const auto space = asio::buffer(buffer);
        const std::size_t n = co_await socket.async_read_some(space, asio::use_awaitable);
        const auto bytes = asio::buffer(buffer.data(), n);
        co_await asio::async_write(socket, bytes, asio::use_awaitable);
        served += n;
    }
}

backend echo_store(const core::address& server)
{
    return backend(std::make_shared<echo_factory>(server));
}

} // namespace holdfast::test

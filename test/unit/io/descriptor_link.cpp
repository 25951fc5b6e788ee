// A store behind a client library that owns its socket, as libpq does. Here the library is a fake
// one over a socket pair; its server is at the other end of the pair.
#include "core/backend.hpp"
#include "core/descriptor.hpp"
#include "support/name_service.hpp"
#include "support/run.hpp"

#include <boost/asio/executor_work_guard.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <map>
#include <optional>
#include <sstream>

namespace holdfast::test {
namespace {

using core::readiness;

// A server with locks of one letter. Requests: "+A" takes the lock A, "-A" frees it. Replies: 'y'
// or 'n' for each.
struct fake_server {
    std::map<char, bool> held;
    int socket = -1;
    int sockets = 0;
    std::size_t reads = 0;

    // Reads what has arrived. Returns at the end of the connection too.
    void serve()
    {
        char bytes[256];
        ssize_t n = 0;
        while (socket != -1 && (n = ::recv(socket, bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
            ++reads;
            std::string replies;
            for (ssize_t i = 0; i + 1 < n; i += 2) {
                const bool takes = bytes[i] == '+';
                replies += held[bytes[i + 1]] == takes ? 'n' : 'y';
                held[bytes[i + 1]] = takes;
            }
            BOOST_TEST(::send(socket, replies.data(), replies.size(), MSG_NOSIGNAL) ==
                       static_cast<ssize_t>(replies.size()));
        }
        if (n == 0)
            hang_up();
    }
    void hang_up()
    {
        if (socket != -1)
            ::close(std::exchange(socket, -1));
    }
    ~fake_server() { hang_up(); }
};

// The library, and its adapter. After it has connected it waits once for a writable socket, and
// takes a new socket under the old number.
class fake_library final : public core::descriptor {
public:
    fake_library(fake_server& server, const std::string& host) : server_(server)
    {
        target_.host = host;
        target_.port = 1;
    }
    ~fake_library() override { drop(); }

    const core::address& target() const noexcept override { return target_; }
    bool wants_open() const noexcept override { return wanted; }
    void open(std::span<const std::string> addresses, core::time_point) override
    {
        opened_with.assign(addresses.begin(), addresses.end());
        connect();
    }
    void closed(error_code ec, core::time_point) override
    {
        why = ec;
        wanted = !next_host.empty();
        if (wanted)
            target_.host = std::exchange(next_host, {});
        drop();
    }
    int handle() const noexcept override { return socket_; }
    std::uint64_t incarnation() const noexcept override { return incarnation_; }
    readiness wants() const noexcept override
    {
        return connecting_ ? readiness::writable : readiness::readable;
    }
    void ready(readiness what, core::time_point) override
    {
        pollfd one{.fd = socket_, .events = POLLIN | POLLOUT, .revents = 0};
        BOOST_TEST(::poll(&one, 1, 0) == 1);
        const short due = what == readiness::writable ? POLLOUT : POLLIN;
        BOOST_TEST((one.revents & due) != 0, "not ready for what was reported");
        if (connecting_) {
            BOOST_TEST(core::includes(what, readiness::writable));
            connecting_ = false;
            const int number = socket_;
            connect(); // as libpq tries the next address
            BOOST_TEST(socket_ == number);
            connecting_ = false;
            return;
        }
        BOOST_TEST(core::includes(what, readiness::readable));
        char bytes[256];
        const ssize_t n = ::recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT);
        if (n <= 0) {
            ++breaks;
            return connect();
        }
        replies.append(bytes, static_cast<std::size_t>(n));
    }
    bool has_output() const noexcept override
    {
        return socket_ != -1 && !connecting_ && !output.empty();
    }
    void flush(core::time_point) override
    {
        ++flushes;
        const auto size = static_cast<ssize_t>(output.size());
        BOOST_TEST(::send(socket_, output.data(), output.size(), MSG_NOSIGNAL) == size);
        output.clear();
    }

    bool wanted = true;
    std::string next_host; // to be used after closed()
    std::string output, replies;
    std::vector<std::string> opened_with;
    error_code why;
    int flushes = 0, breaks = 0;

private:
    void connect()
    {
        drop();
        int ends[2];
        BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
        socket_ = ends[0];
        server_.hang_up();
        server_.socket = ends[1];
        ++server_.sockets;
        ++incarnation_;
        connecting_ = true;
    }
    void drop()
    {
        if (socket_ != -1)
            ::close(std::exchange(socket_, -1));
        ++incarnation_;
    }

    fake_server& server_;
    core::address target_;
    int socket_ = -1;
    bool connecting_ = false;
    std::uint64_t incarnation_ = 0;
};

// One claim for each request; no renewal.
class fake_store final : public core::backend_core {
public:
    explicit fake_store(fake_library& library) : library_(library), served_(&library) {}

    core::claim_id attempt(std::uint64_t tag, std::string_view resource, const core::owner_token&,
        const core::claim_params& params, core::time_point now) override
    {
        claims_.push_back({tag, resource.front(), {now, params.ttl, now + params.ttl}});
        ask('+', claims_.size() - 1);
        return claims_.size() - 1;
    }
    void abandon(core::claim_id, core::time_point) override {}
    errc pending_error(core::claim_id) const noexcept override { return errc::unreachable; }
    std::optional<std::uint64_t> transfer(core::claim_id, std::uint64_t) override { return {}; }
    bool can_transfer(core::claim_id) const noexcept override { return false; }
    void renew(std::span<const core::claim_id>, bool, core::time_point) override {}
    void release(core::claim_id id, core::time_point) override { ask('-', id); }
    core::duration patience(core::duration) const noexcept override { return 1s; }
    std::optional<core::backend_event> next_event() override
    {
        if (library_.replies.empty())
            return {};
        const bool yes = library_.replies.front() == 'y';
        library_.replies.erase(0, 1);
        const auto [request, id] = asked_.front();
        asked_.pop_front();
        core::backend_event e{.tag = claims_[id].tag, .valid = claims_[id].valid};
        e.kind = request == '-' ? core::event_kind::released
                 : yes          ? core::event_kind::granted
                                : core::event_kind::refused;
        e.outcome = release_outcome::released;
        e.reason = errc::contended;
        return e;
    }
    core::time_point wake_at() const noexcept override { return core::never; }
    using backend_core::wake;
    void wake(core::time_point, core::time_point) override {}
    std::span<core::descriptor* const> descriptors() noexcept override { return {&served_, 1}; }
    void close(core::time_point) override { library_.wanted = false; }
    const core::store_info& about() const noexcept override { return info_; }

private:
    struct claim {
        std::uint64_t tag;
        char name;
        core::validity valid;
    };
    void ask(char request, core::claim_id id)
    {
        library_.output += request;
        library_.output += claims_[id].name;
        asked_.emplace_back(request, id);
    }

    const core::store_info info_{.name = "fake"};
    fake_library& library_;
    core::descriptor* served_;
    std::vector<claim> claims_;
    std::deque<std::pair<char, core::claim_id>> asked_;
};

class fake_factory final : public core::backend_factory {
public:
    explicit fake_factory(fake_library& library) : library_(library) {}
    std::unique_ptr<core::backend_core> make(std::uint64_t) const override
    {
        return std::make_unique<fake_store>(library_);
    }

private:
    fake_library& library_;
};

struct descriptor_fixture {
    explicit descriptor_fixture(const std::string& host = "127.0.0.1") : client(server, host)
    {
        locker.emplace(io.get_executor(), backend(std::make_shared<fake_factory>(client)));
    }

    // Handlers alternate with the server until `done()`.
    template <class Done>
    void serve_until(Done done)
    {
        run_until(io, [&] {
            server.serve();
            return done();
        });
    }
    holdfast::lock lock(const std::string& name) { return {*locker, name}; }
    void expect_refused(const std::string& name)
    {
        std::optional<bool> empty;
        lock(name).try_acquire([&](error_code ec, lease got) { empty = !ec && !got; });
        serve_until([&] { return empty.has_value(); });
        BOOST_TEST(*empty);
    }
    lease take(const std::string& name)
    {
        std::optional<lease> taken;
        lock(name).acquire(10s, [&](error_code ec, lease got) {
            BOOST_TEST(!ec, ec.message());
            taken = std::move(got);
        });
        serve_until([&] { return taken.has_value(); });
        return std::move(*taken);
    }
    void give_back(lease held)
    {
        bool done = false;
        held.release([&](error_code ec, release_outcome outcome) {
            BOOST_TEST(!ec);
            BOOST_TEST(outcome == release_outcome::released);
            done = true;
        });
        serve_until([&] { return done; });
    }
    void close()
    {
        bool done = false;
        locker->close([&](error_code) { done = true; });
        serve_until([&] { return done; });
        io.restart();
        io.run(); // nothing is left
    }

    asio::io_context io;
    fake_server server;
    fake_library client;
    std::optional<holdfast::locker> locker;
};

BOOST_AUTO_TEST_SUITE(descriptor_link)

BOOST_AUTO_TEST_CASE(locks_work_over_a_library_that_owns_its_socket)
{
    descriptor_fixture f;
    lease a = f.take("A");
    BOOST_TEST(a.held());
    BOOST_TEST(f.server.held['A']);
    f.expect_refused("A");
    BOOST_TEST(f.client.opened_with == std::vector<std::string>{"127.0.0.1"});
    BOOST_TEST(f.server.sockets == 2); // the second one had the number of the first one
    f.give_back(std::move(a));
    BOOST_TEST(!f.server.held['A']);
    f.close();
    BOOST_TEST(f.client.handle() == -1);
    BOOST_TEST(f.client.why == asio::error::operation_aborted);
}

BOOST_AUTO_TEST_CASE(requests_of_one_turn_are_sent_together)
{
    descriptor_fixture f;
    f.give_back(f.take("A"));
    const int before = f.client.flushes;
    int granted = 0;
    std::vector<lease> leases;
    for (const char* const name : {"A", "B", "C"})
        f.lock(name).acquire(10s, [&](error_code ec, lease got) {
            granted += ec ? 0 : 1;
            leases.push_back(std::move(got));
        });
    f.serve_until([&] { return granted == 3; });
    BOOST_TEST(f.client.flushes == before + 1);
    while (!leases.empty()) {
        f.give_back(std::move(leases.back()));
        leases.pop_back();
    }
    f.close();
}

BOOST_AUTO_TEST_CASE(the_name_of_another_server_is_looked_up_while_the_first_one_is_not_answered)
{
    const silent_name_service first;
    const named_addresses second("second.invalid", {"127.0.0.2"});
    descriptor_fixture f("first.silent.invalid");
    std::optional<lease> a;
    f.lock("A").acquire(10s, [&](error_code, lease got) { a = std::move(got); });
    f.io.poll();
    BOOST_TEST(f.client.opened_with.empty());
    f.client.next_host = "second.invalid";
    f.client.wanted = false;
    asio::post(f.io, [&] { f.lock("B").try_acquire([](error_code, lease) {}); });
    f.serve_until([&] { return a.has_value(); });
    BOOST_TEST(f.client.opened_with == std::vector<std::string>{"127.0.0.2"});
    f.give_back(std::move(*a));
    f.close();
}

BOOST_AUTO_TEST_CASE(a_broken_socket_is_found_by_the_library_and_replaced)
{
    descriptor_fixture f;
    f.give_back(f.take("A"));
    f.server.hang_up();
    f.serve_until([&] { return f.client.breaks == 1 && f.server.sockets == 4; });
    f.give_back(f.take("B"));
    f.close();
}

BOOST_AUTO_TEST_CASE(a_name_that_cannot_be_looked_up_closes_the_library)
{
    descriptor_fixture f("one.holdfast.invalid");
    {
        const auto work = asio::make_work_guard(f.io); // a look-up alone is no work
        f.serve_until([&] { return !f.client.wanted; });
    }
    BOOST_TEST(bool(f.client.why));
    BOOST_TEST(f.server.sockets == 0);
    f.close();
}

BOOST_AUTO_TEST_CASE(a_context_may_be_destroyed_while_the_library_waits)
{
    fake_server server;
    fake_library library(server, "127.0.0.1");
    std::optional<holdfast::locker> outlives;
    {
        asio::io_context io;
        outlives.emplace(io.get_executor(), backend(std::make_shared<fake_factory>(library)));
        run_until(io, [&] { return server.sockets == 2; });
        io.restart();
        io.poll();
    }
    BOOST_TEST(library.handle() != -1); // the library's socket belongs to the library
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test

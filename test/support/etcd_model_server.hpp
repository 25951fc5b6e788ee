#pragma once

#include "core/time.hpp"
#include "support/etcd_model.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

struct nghttp2_session;

namespace holdfast::test {

/// One connection to a server of the model: HTTP/2 as the real one speaks it. Requests wait until
/// they are executed, which may be after the connection has ended.
class etcd_model_server {
public:
    struct request {
        std::int32_t stream = 0;
        std::string path, message;
        bool executed = false; ///< but not answered
        etcd_model::result answer{};
    };

    explicit etcd_model_server(etcd_model& model);
    ~etcd_model_server();
    etcd_model_server(const etcd_model_server&) = delete;
    etcd_model_server& operator=(const etcd_model_server&) = delete;

    void receive(std::string_view bytes);
    std::string output();

    /// Requests that have arrived, the oldest first, except those of watches.
    std::deque<request>& waiting() noexcept { return waiting_; }
    /// Executes the oldest one that was not executed. False if there is none.
    bool execute(core::time_point now);
    /// Sends the answer of the oldest one that was executed. False if there is none.
    bool answer();
    /// Ends the oldest request with an error, without executing it.
    void fail(int status, const std::string& reason);
    /// Sends the changes that watches have not been told.
    void tell_watches();

private:
    struct callbacks;
    struct stream {
        std::string path, in, out;
        bool ends = false; // after `out`
        int status = 0;
        std::string reason;
        bool answered = false;
    };
    struct watch {
        std::int32_t stream = 0;
        std::int64_t id = 0;
        std::string first, end;
        bool deletions = true; // else puts
        std::size_t told = 0;  // changes
    };

    void arrived(std::int32_t id, stream& on);
    void send(std::int32_t id, std::string_view message);
    void finish(std::int32_t id, int status, const std::string& reason);
    void watch_request(std::int32_t id, std::string_view message);

    etcd_model& model_;
    nghttp2_session* session_ = nullptr;
    std::map<std::int32_t, stream> streams_;
    std::deque<request> waiting_;
    std::vector<watch> watches_;
};

} // namespace holdfast::test

#include "support/etcd_model_server.hpp"

#include "support/etcd_model_fields.hpp"

#include "etcd/wire/messages.hpp"
#include "etcd/wire/protobuf.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace holdfast::test {

namespace wire = etcd_store::wire;
using wire::proto_writer;

namespace {

std::string framed(std::string_view message)
{
    std::string f(1, '\0');
    for (const unsigned shift : {24u, 16u, 8u, 0u})
        f += static_cast<char>(message.size() >> shift & 0xffu);
    return f += message;
}

} // namespace

struct etcd_model_server::callbacks {
    static etcd_model_server& self(void* user) { return *static_cast<etcd_model_server*>(user); }

    static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
        std::size_t name_size, const std::uint8_t* value, std::size_t value_size, std::uint8_t,
        void* user)
    {
        const std::string key(reinterpret_cast<const char*>(name), name_size);
        if (key == ":path")
            self(user).streams_[frame->hd.stream_id].path.assign(
                reinterpret_cast<const char*>(value), value_size);
        return 0;
    }
    static int on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
        std::size_t size, void* user)
    {
        stream& on = self(user).streams_[id];
        on.in.append(reinterpret_cast<const char*>(data), size);
        self(user).arrived(id, on);
        return 0;
    }
    static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t, void* user)
    {
        self(user).streams_.erase(id);
        std::erase_if(self(user).watches_, [id](const watch& w) { return w.stream == id; });
        return 0;
    }
    static ssize_t on_read(nghttp2_session* session, std::int32_t id, std::uint8_t* to,
        std::size_t size, std::uint32_t* flags, nghttp2_data_source*, void* user)
    {
        stream& on = self(user).streams_[id];
        const std::size_t n = std::min(size, on.out.size());
        if (n == 0 && !on.ends)
            return NGHTTP2_ERR_DEFERRED;
        std::copy_n(on.out.data(), n, reinterpret_cast<char*>(to));
        on.out.erase(0, n);
        if (on.out.empty() && on.ends) {
            *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
            const std::string code = std::to_string(on.status);
            const std::array trailers{nv("grpc-status", code), nv("grpc-message", on.reason)};
            nghttp2_submit_trailer(session, id, trailers.data(), trailers.size());
        }
        return static_cast<ssize_t>(n);
    }
    static nghttp2_nv nv(std::string_view name, std::string_view value)
    {
        return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
            reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(),
            value.size(), NGHTTP2_NV_FLAG_NONE};
    }
};

etcd_model_server::etcd_model_server(etcd_model& model) : model_(model)
{
    nghttp2_session_callbacks* made = nullptr;
    nghttp2_session_callbacks_new(&made);
    nghttp2_session_callbacks_set_on_header_callback(made, callbacks::on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, callbacks::on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(made, callbacks::on_close);
    nghttp2_session_server_new(&session_, made, this);
    nghttp2_session_callbacks_del(made);
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
}

etcd_model_server::~etcd_model_server()
{
    nghttp2_session_del(session_);
}

void etcd_model_server::receive(std::string_view bytes)
{
    const ssize_t n = nghttp2_session_mem_recv(
        session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    if (n < 0)
        throw std::runtime_error(nghttp2_strerror(static_cast<int>(n)));
}

std::string etcd_model_server::output()
{
    std::string all;
    const std::uint8_t* data = nullptr;
    for (ssize_t n = 0; (n = nghttp2_session_mem_send(session_, &data)) > 0;)
        all.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(n));
    return all;
}

void etcd_model_server::arrived(std::int32_t id, stream& on)
{
    while (on.in.size() >= 5) {
        std::size_t length = 0;
        for (std::size_t i = 1; i < 5; ++i)
            length = length << 8u | static_cast<unsigned char>(on.in[i]);
        if (on.in.size() < 5 + length)
            return;
        const std::string message = on.in.substr(5, length);
        on.in.erase(0, 5 + length);
        if (on.path == wire::watch_path)
            watch_request(id, message);
        else
            waiting_.push_back({id, on.path, message});
    }
}

void etcd_model_server::watch_request(std::int32_t id, std::string_view message)
{
    const message_fields asked(message);
    if (asked.texts.contains(2)) {
        const std::int64_t gone = message_fields(asked.text(2)).number(1);
        std::erase_if(watches_, [gone](const watch& w) { return w.id == gone; });
        return;
    }
    const message_fields create(asked.text(1));
    watch w{id, create.number(7), create.text(1), create.text(2), create.text(5) != "\1", 0};
    proto_writer created;
    created.message(1, model_.header());
    created.number(2, bits(w.id));
    created.number(3, 1);
    send(id, created.encoded());
    if (create.number(3) < model_.compacted()) {
        proto_writer canceled;
        canceled.message(1, model_.header());
        canceled.number(2, bits(w.id));
        canceled.number(4, 1);
        canceled.number(5, bits(model_.compacted()));
        return send(id, canceled.encoded());
    }
    const auto& changes = model_.changes();
    while (w.told < changes.size() && changes[w.told].revision < create.number(3))
        ++w.told;
    watches_.push_back(w);
}

void etcd_model_server::tell_watches()
{
    for (watch& w : watches_) {
        proto_writer reply;
        reply.message(1, model_.header());
        reply.number(2, bits(w.id));
        bool any = false;
        for (; w.told < model_.changes().size(); ++w.told) {
            const etcd_model::change& each = model_.changes()[w.told];
            if (each.deleted != w.deletions || each.key < w.first || each.key >= w.end)
                continue;
            proto_writer key, event;
            key.text(1, each.key);
            key.number(3, bits(each.revision));
            event.number(1, each.deleted ? 1 : 0);
            event.message(2, key.encoded());
            reply.message(11, event.encoded());
            any = true;
        }
        if (any)
            send(w.stream, reply.encoded());
    }
}

bool etcd_model_server::execute(core::time_point now)
{
    const auto next = std::find_if(
        waiting_.begin(), waiting_.end(), [](const request& r) { return !r.executed; });
    if (next == waiting_.end())
        return false;
    next->executed = true;
    next->answer = next->path == wire::keep_alive_path
                       ? etcd_model::result{0, model_.keep_alive(next->message, now)}
                       : model_.call(next->path, next->message, now);
    return true;
}

bool etcd_model_server::answer()
{
    const auto next =
        std::find_if(waiting_.begin(), waiting_.end(), [](const request& r) { return r.executed; });
    if (next == waiting_.end())
        return false;
    const request r = std::move(*next);
    waiting_.erase(next);
    if (r.answer.status == 0)
        send(r.stream, r.answer.text);
    if (r.path != wire::keep_alive_path)
        finish(r.stream, r.answer.status, r.answer.status == 0 ? "" : r.answer.text);
    return true;
}

void etcd_model_server::fail(int status, const std::string& reason)
{
    const std::int32_t id = waiting_.front().stream;
    waiting_.pop_front();
    finish(id, status, reason);
}

void etcd_model_server::send(std::int32_t id, std::string_view message)
{
    const auto found = streams_.find(id);
    if (found == streams_.end())
        return;
    found->second.out += framed(message);
    if (!std::exchange(found->second.answered, true)) {
        const std::array headers{
            callbacks::nv(":status", "200"), callbacks::nv("content-type", "application/grpc")};
        nghttp2_data_provider body{};
        body.read_callback = callbacks::on_read;
        nghttp2_submit_response(session_, id, headers.data(), headers.size(), &body);
    } else {
        nghttp2_session_resume_data(session_, id);
    }
}

void etcd_model_server::finish(std::int32_t id, int status, const std::string& reason)
{
    const auto found = streams_.find(id);
    if (found == streams_.end())
        return;
    found->second.ends = true;
    found->second.status = status;
    found->second.reason = reason;
    if (found->second.answered) {
        nghttp2_session_resume_data(session_, id);
        return;
    }
    found->second.answered = true;
    const std::string code = std::to_string(status);
    const std::array headers{callbacks::nv(":status", "200"),
        callbacks::nv("content-type", "application/grpc"), callbacks::nv("grpc-status", code),
        callbacks::nv("grpc-message", reason)};
    nghttp2_submit_response(session_, id, headers.data(), headers.size(), nullptr);
}

} // namespace holdfast::test

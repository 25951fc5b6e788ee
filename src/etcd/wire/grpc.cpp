#include "etcd/wire/grpc.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <new>
#include <utility>
#include <vector>

namespace holdfast::etcd_store::wire {

namespace {

constexpr std::size_t frame_header = 5; // a flag and the length
constexpr std::size_t longest_reason = 512;
constexpr std::int32_t connection_window = 1 << 20, stream_window = 256 * 1024;

void append_framed(std::string& to, std::string_view message)
{
    to += '\0'; // not compressed
    for (unsigned shift = 32; shift != 0; shift -= 8)
        to += static_cast<char>(message.size() >> (shift - 8) & 0xffu);
    to += message;
}

std::size_t length_in(std::string_view header)
{
    std::size_t length = 0;
    for (const char c : header.substr(1, 4))
        length = length << 8u | static_cast<unsigned char>(c);
    return length;
}

nghttp2_nv field(std::string_view name, std::string_view value)
{
    const auto bytes = [](std::string_view text) {
        // nghttp2 copies names and values, and writes to neither.
        return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    };
    return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

std::string_view view(const std::uint8_t* data, std::size_t size)
{
    return {reinterpret_cast<const char*>(data), size};
}

int number_in(std::string_view text)
{
    int n = -1;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, n);
    return error == std::errc() && stopped == end ? n : -1;
}

// Control characters could make one line of a log look like several.
std::string printable(std::string_view text)
{
    std::string out(text.substr(0, longest_reason));
    std::replace_if(
        out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return out;
}

void check(int result)
{
    if (result == NGHTTP2_ERR_NOMEM)
        throw std::bad_alloc();
}

} // namespace

// nghttp2 is written in C: no exception may leave these.
struct grpc_calls::callbacks {
    static grpc_calls& self(void* user) { return *static_cast<grpc_calls*>(user); }

    static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
        std::size_t name_size, const std::uint8_t* value, std::size_t value_size, std::uint8_t,
        void* user) noexcept
    try {
        const auto found = self(user).calls_.find(frame->hd.stream_id);
        if (found == self(user).calls_.end())
            return 0;
        call& c = found->second;
        const std::string_view key = view(name, name_size), what = view(value, value_size);
        if (key == ":status")
            c.http = number_in(what);
        else if (key == "grpc-status")
            c.code = number_in(what);
        else if (key == "grpc-message")
            c.reason = printable(what);
        return 0;
    } catch (const std::bad_alloc&) {
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }

    static int on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
        std::size_t size, void* user) noexcept
    try {
        const auto found = self(user).calls_.find(id);
        if (found == self(user).calls_.end())
            return 0;
        if (found->second.http != 200) // a page of a proxy
            return 0;
        found->second.in += view(data, size);
        return self(user).read_messages(id, found->second) ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
    } catch (const std::bad_alloc&) {
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }

    static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t error, void* user) noexcept
    try {
        self(user).over(id, error);
        return 0;
    } catch (const std::bad_alloc&) {
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }

    static int on_frame(nghttp2_session* session, const nghttp2_frame* frame, void* user) noexcept
    {
        if (frame->hd.type == NGHTTP2_GOAWAY)
            self(user).going_away_ = true;
        const bool may_end = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
        if (!may_end || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0)
            return 0;
        // The server has ended the call, so there is no use for what may follow from here.
        const auto found = self(user).calls_.find(frame->hd.stream_id);
        if (found != self(user).calls_.end())
            found->second.more = false;
        const int result = nghttp2_session_resume_data(session, frame->hd.stream_id);
        return result == NGHTTP2_ERR_NOMEM ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
    }

    static ssize_t on_read(nghttp2_session*, std::int32_t id, std::uint8_t* to, std::size_t size,
        std::uint32_t* flags, nghttp2_data_source*, void* user) noexcept
    {
        const auto found = self(user).calls_.find(id);
        if (found == self(user).calls_.end()) {
            *flags |= NGHTTP2_DATA_FLAG_EOF;
            return 0;
        }
        call& c = found->second;
        const std::size_t n = std::min(size, c.out.size() - c.sent);
        if (n == 0 && c.more)
            return NGHTTP2_ERR_DEFERRED;
        std::copy_n(c.out.data() + c.sent, n, reinterpret_cast<char*>(to));
        c.sent += n;
        if (c.sent == c.out.size()) {
            c.out.clear();
            c.sent = 0;
            if (!c.more)
                *flags |= NGHTTP2_DATA_FLAG_EOF;
        }
        return static_cast<ssize_t>(n);
    }
};

grpc_calls::grpc_calls(std::string authority, bool secure)
    : authority_(std::move(authority)),
      secure_(secure)
{
    nghttp2_session_callbacks* made = nullptr;
    check(nghttp2_session_callbacks_new(&made));
    nghttp2_session_callbacks_set_on_header_callback(made, callbacks::on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, callbacks::on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(made, callbacks::on_close);
    nghttp2_session_callbacks_set_on_frame_recv_callback(made, callbacks::on_frame);
    const int result = nghttp2_session_client_new(&session_, made, this);
    nghttp2_session_callbacks_del(made);
    check(result);
    const std::array settings{nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, stream_window}};
    check(nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size()));
    check(nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, connection_window));
}

grpc_calls::~grpc_calls()
{
    nghttp2_session_del(session_);
}

stream_id grpc_calls::begin(std::string_view path, std::string_view message, const metadata& about)
{
    std::vector<nghttp2_nv> fields{field(":method", "POST"),
        field(":scheme", secure_ ? "https" : "http"), field(":path", path),
        field(":authority", authority_), field("te", "trailers"),
        field("content-type", "application/grpc"), field("user-agent", "holdfast")};
    if (!about.token.empty()) {
        fields.push_back(field("token", about.token));
        fields.back().flags = NGHTTP2_NV_FLAG_NO_INDEX; // secret: in no table
    }
    if (about.needs_leader)
        fields.push_back(field("hasleader", "true"));
    nghttp2_data_provider body{};
    body.read_callback = callbacks::on_read;
    const std::int32_t id =
        nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(), &body, nullptr);
    check(id);
    if (id <= 0)
        return 0;
    call& c = calls_[id];
    c.more = about.more_messages;
    append_framed(c.out, message);
    return id;
}

void grpc_calls::send(stream_id id, std::string_view message)
{
    const auto found = calls_.find(id);
    if (found == calls_.end())
        return;
    append_framed(found->second.out, message);
    check(nghttp2_session_resume_data(session_, id)); // fails if it was not deferred
}

void grpc_calls::cancel(stream_id id)
{
    if (calls_.erase(id) != 0)
        check(nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL));
    std::erase_if(arrivals_, [id](const arrival& each) { return each.call == id; });
}

bool grpc_calls::receive(std::string_view bytes)
{
    if (!trouble_.empty())
        return false;
    const ssize_t taken = nghttp2_session_mem_recv(
        session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    check(static_cast<int>(taken));
    // After an error of the server: a last message. But a server that reads nothing is not answered
    // without end: nghttp2 limits the answers that wait in it.
    const bool failed =
        taken < 0 || (!going_away_ && nghttp2_session_check_request_allowed(session_) == 0);
    if (out_.empty() || failed)
        collect_output();
    if (taken < 0 && trouble_.empty())
        trouble_ = std::string("HTTP/2: ") + nghttp2_strerror(static_cast<int>(taken));
    else if (trouble_.empty() && nghttp2_session_want_read(session_) == 0)
        trouble_ = "HTTP/2: the connection has ended";
    return trouble_.empty();
}

// False if the bytes are no message.
bool grpc_calls::read_messages(stream_id id, call& c)
{
    std::string_view rest = c.in;
    while (rest.size() >= frame_header) {
        const std::size_t length = length_in(rest);
        if (rest.front() != '\0' || length > longest_message) {
            trouble_ = rest.front() != '\0'
                           ? "gRPC: a compressed message"
                           : "gRPC: a message of " + std::to_string(length) + " bytes";
            return false;
        }
        if (rest.size() < frame_header + length)
            break;
        arrivals_.push_back({id, std::nullopt, std::string(rest.substr(frame_header, length))});
        rest.remove_prefix(frame_header + length);
    }
    c.in.erase(0, c.in.size() - rest.size());
    return true;
}

void grpc_calls::over(stream_id id, std::uint32_t error)
{
    const auto found = calls_.find(id);
    if (found == calls_.end())
        return; // cancelled
    const call& c = found->second;
    arrival end{id, c.code, c.reason};
    if (error == NGHTTP2_REFUSED_STREAM)
        end = {id, -1, "the server refused the call"};
    else if (c.code < 0 && c.http != 200 && c.http > 0)
        end.text = "HTTP status " + std::to_string(c.http);
    else if (c.code < 0)
        end.text = std::string("HTTP/2: the call was broken off: ") + nghttp2_http2_strerror(error);
    calls_.erase(found);
    arrivals_.push_back(std::move(end));
}

std::optional<arrival> grpc_calls::next()
{
    if (arrivals_.empty())
        return std::nullopt;
    std::optional<arrival> first = std::move(arrivals_.front());
    arrivals_.pop_front();
    return first;
}

bool grpc_calls::has_output() const noexcept
{
    return !out_.empty() || nghttp2_session_want_write(session_) != 0;
}

std::string grpc_calls::take_output()
{
    collect_output();
    return std::exchange(out_, {});
}

void grpc_calls::collect_output()
{
    for (;;) {
        const std::uint8_t* data = nullptr;
        const ssize_t n = nghttp2_session_mem_send(session_, &data);
        check(static_cast<int>(n));
        if (n < 0 && trouble_.empty())
            trouble_ = std::string("HTTP/2: ") + nghttp2_strerror(static_cast<int>(n));
        if (n <= 0)
            return;
        out_ += view(data, static_cast<std::size_t>(n));
    }
}

} // namespace holdfast::etcd_store::wire

#include "redis/inspection/client_record.hpp"

#include "core/hex.hpp"
#include "redis/inspection/client_text.hpp"
#include "redis/node/script_call.hpp"
#include "redis/node/scripts.hpp"

#include <charconv>
#include <utility>

namespace holdfast::redis {

using core::time_point;
using resp::value_kind;

namespace {

constexpr std::size_t digits_of_id = 8;
constexpr unsigned most_ids_of_a_locker = 8;

} // namespace

std::string client_key(const client_settings& settings, std::uint32_t id)
{
    std::string key = settings.key_prefix + (settings.fenced ? "hf:c:" : "holdfast:client:");
    for (int shift = 28; shift >= 0; shift -= 4)
        key += core::hex_digit(id >> shift);
    return key;
}

client_record::client_record(node_pool& nodes, client_settings settings)
    : nodes_(nodes),
      settings_(std::move(settings))
{
    choose_id();
}

// From the channel, which is random: needs no random bits of its own.
void client_record::choose_id() noexcept
{
    const std::string_view channel = settings_.channel;
    const std::string_view digits =
        channel.substr(std::min(channel.rfind(':') + 1, channel.size()));
    const std::string_view mine =
        digits.substr(std::min(digits_of_id * ids_tried_, digits.size()), digits_of_id);
    if (mine.size() == digits_of_id)
        std::from_chars(mine.data(), mine.data() + mine.size(), id_, 16);
    else if (ids_tried_ != 0)
        ++id_; // all of the channel is used
    ++ids_tried_;
    if (id_ == 0 && !channel.empty())
        id_ = 1;
}

void client_record::introduce(const core::client_identity& self, time_point now)
{
    if (!settings_.keeps_record)
        return;
    text_ = text_of_client(self, settings_.client_name, settings_.channel);
    key_ = client_key(settings_, id_);
    renew_at_ = now + period;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        on_ready(i, now);
}

void client_record::on_ready(std::size_t node, time_point now)
{
    at_[node] = state::absent;
    write(node, now);
}

void client_record::write(std::size_t node, time_point now)
{
    if (text_.empty() || !nodes_.is_ready(node))
        return;
    const resp::decimal left(in_ms(ttl));
    command_.clear();
    resp::append_command(command_, {"SET", key_, text_, "NX", "PX", left.view()});
    send(node, request_kind::introduce, now);
}

void client_record::compare(std::size_t node, time_point now)
{
    command_.clear();
    resp::append_command(command_, {"GET", key_});
    send(node, request_kind::compare, now);
}

void client_record::prolong(std::size_t node, time_point now)
{
    const resp::decimal left(in_ms(ttl));
    command_.clear();
    resp::append_command(command_, {"PEXPIRE", key_, left.view()});
    send(node, request_kind::prolong, now);
}

// In order behind a record that is still being written.
void client_record::remove(std::size_t node, time_point now)
{
    if (!nodes_.is_ready(node) || at_[node] == state::forbidden)
        return;
    at_[node] = state::absent;
    command_.clear();
    resp::append_command(command_, {script_command(true), release_script.text, "1", key_, text_});
    send(node, request_kind::withdraw, now);
    ++leaving_;
}

// The reference is the id: an answer about an earlier id is told apart.
void client_record::send(std::size_t node, request_kind kind, time_point now)
{
    nodes_.send(node, command_, {.reference = id_, .kind = kind, .sent = now});
}

void client_record::withdraw(time_point now)
{
    if (text_.empty())
        return;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        remove(i, now);
    text_.clear();
    renew_at_ = core::never;
}

// Another locker has this id at some node.
void client_record::change_id(time_point now)
{
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        remove(i, now);
    choose_id();
    key_ = client_key(settings_, id_);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (at_[i] != state::forbidden)
            write(i, now);
    }
}

void client_record::on_reply(std::size_t node, const request& r, reply answer, time_point now)
{
    if (r.kind == request_kind::withdraw)
        return lose_answer(r);
    if (text_.empty() || r.reference != id_)
        return;
    const resp::value& v = answer.front();
    if (v.kind == value_kind::error) { // otherwise it is tried again with the next renewal
        const bool forbidden = refuses_command(v.text);
        at_[node] = forbidden ? state::forbidden : state::absent;
        return;
    }
    switch (r.kind) {
    case request_kind::introduce:
        if (v.kind == value_kind::null)
            compare(node, now);
        else
            at_[node] = state::written;
        break;
    case request_kind::compare:
        if (v.kind == value_kind::null) { // it has ended in between: written with the next renewal
            at_[node] = state::absent;
        } else if (v.text == text_) { // of an earlier connection of ours
            at_[node] = state::written;
            prolong(node, now);
        } else if (ids_tried_ < most_ids_of_a_locker) {
            change_id(now);
        } else {
            at_[node] = state::forbidden; // no chance: the node's answers are wrong
        }
        break;
    case request_kind::prolong:
        if (v.kind == value_kind::integer && v.integer == 0) { // the node has lost it
            at_[node] = state::absent;
            write(node, now);
        }
        break;
    default:
        break;
    }
}

void client_record::lose_answer(const request& r) noexcept
{
    if (r.kind == request_kind::withdraw && leaving_ != 0)
        --leaving_;
}

void client_record::wake(time_point now)
{
    if (now < renew_at_)
        return;
    renew_at_ = now + period;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!nodes_.is_ready(i) || at_[i] == state::forbidden || nodes_[i].congested(now))
            continue;
        if (at_[i] == state::written)
            prolong(i, now);
        else
            write(i, now);
    }
}

} // namespace holdfast::redis

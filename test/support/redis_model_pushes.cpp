// The pushes of the model of a Redis server: messages, and notifications of changed keys.
#include "support/redis_model_call.hpp"

namespace holdfast::test {

namespace {

using resp_text::syntax;
using resp_text::unknown_option;

void append_bulk(std::string& out, std::string_view text)
{
    out += '$';
    append(out, static_cast<std::int64_t>(text.size()));
    out += "\r\n";
    out += text;
    out += "\r\n";
}

} // namespace

redis_model::listener* redis_model::listening(std::uint64_t id)
{
    const auto found = listeners_.find(id);
    return found == listeners_.end() || found->second.presence.expired() ? nullptr : &found->second;
}

redis_model::listener& redis_model::call::listen()
{
    if (from.presence == nullptr)
        from.presence = std::make_shared<char>();
    listener& l = server.listeners_[from.id];
    l.presence = from.presence;
    l.protocol = from.protocol;
    return l;
}

// Pushes that a session causes for itself are written among its replies.
void redis_model::tell(std::uint64_t to, std::string_view what)
{
    if (to == serving_)
        *replies_ += what;
    else if (on_push)
        on_push(to, what);
}

std::int64_t redis_model::publish(std::string_view channel, std::string_view message)
{
    std::erase_if(listeners_, [](const auto& each) { return each.second.presence.expired(); });
    std::int64_t count = 0;
    for (const auto& [id, l] : listeners_) {
        if (!l.channels.contains(channel))
            continue;
        std::string text(l.protocol == 2 ? "*3\r\n" : ">3\r\n");
        append_bulk(text, "message");
        append_bulk(text, channel);
        append_bulk(text, message);
        tell(id, text);
        ++count;
    }
    return count;
}

// RESP2 cannot express this push.
void redis_model::tell_of_change(std::uint64_t to, std::string_view keys)
{
    const listener* const l = listening(to);
    if (l == nullptr || !l->tracks || l->protocol == 2)
        return;
    std::string text(">2\r\n");
    append_bulk(text, "invalidate");
    text += keys;
    if (to == serving_) // the session that caused it gets its reply first
        after_reply_ += text;
    else
        tell(to, text);
}

void redis_model::tell_of_change(const std::string& key)
{
    const auto known = watched_.extract(key);
    if (known.empty())
        return;
    std::string keys("*1\r\n");
    append_bulk(keys, key);
    for (const std::uint64_t id : known.mapped())
        tell_of_change(id, keys);
}

void redis_model::tell_of_flush()
{
    watched_.clear();
    for (const auto& [id, l] : listeners_)
        tell_of_change(id, "_\r\n");
}

void redis_model::call::watch(arguments names)
{
    const listener* const l = server.listening(from.id);
    if (l == nullptr || !l->tracks || (l->opts_in && !from.caching))
        return;
    for (const std::string_view name : names)
        server.watched_[std::string(name)].insert(from.id);
}

bool redis_model::call::only_listens() const
{
    const listener* const l = server.listening(from.id);
    return from.protocol == 2 && l != nullptr && !l->channels.empty();
}

void redis_model::call::confirm(
    std::string_view what, std::optional<std::string_view> channel, std::size_t left)
{
    push(3);
    bulk(what);
    channel ? bulk(*channel) : null();
    integer(static_cast<std::int64_t>(left));
}

void redis_model::call::subscribe()
{
    listener& l = listen();
    for (const std::string_view channel : argv.subspan(1)) {
        l.channels.emplace(channel);
        confirm("subscribe", channel, l.channels.size());
    }
}

void redis_model::call::unsubscribe()
{
    listener* const l = server.listening(from.id);
    const auto leave = [&](std::string_view channel) {
        if (l != nullptr && l->channels.contains(channel))
            l->channels.erase(l->channels.find(channel));
        confirm("unsubscribe", channel, l == nullptr ? 0 : l->channels.size());
    };
    if (argv.size() > 1) {
        for (const std::string_view channel : argv.subspan(1))
            leave(channel);
    } else if (l == nullptr || l->channels.empty()) {
        confirm("unsubscribe", std::nullopt, 0);
    } else { // the order of the real server is unspecified
        while (!l->channels.empty())
            leave(std::string(*l->channels.begin()));
    }
}

void redis_model::call::publish()
{
    integer(server.publish(argv[1], argv[2]));
}

void redis_model::call::client_tracking()
{
    bool opts_in = false;
    for (const std::string_view option : argv.subspan(3)) {
        for (const std::string_view unknown : {"redirect", "bcast", "prefix", "optout", "noloop"}) {
            if (same(option, unknown))
                return error(unknown_option);
        }
        if (!same(option, "optin"))
            return error(syntax);
        opts_in = true;
    }
    if (same(argv[2], "on")) {
        listener& l = listen();
        l.tracks = true;
        l.opts_in = opts_in;
    } else if (!same(argv[2], "off")) {
        return error(syntax);
    } else if (listener* const l = server.listening(from.id); l != nullptr && l->tracks) {
        l->tracks = l->opts_in = from.caching = false;
    }
    simple("OK");
}

void redis_model::call::client_caching()
{
    const listener* const l = server.listening(from.id);
    if (l == nullptr || !l->tracks)
        return error("ERR CLIENT CACHING can be called only when the client is in tracking mode "
                     "with OPTIN or OPTOUT mode enabled");
    if (same(argv[2], "no"))
        return error(
            "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.");
    if (!same(argv[2], "yes"))
        return error(syntax);
    if (!l->opts_in)
        return error(
            "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.");
    from.caching = true;
    simple("OK");
}

} // namespace holdfast::test

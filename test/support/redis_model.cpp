#include "support/redis_model.hpp"

#include "support/redis_model_call.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::test {

namespace {

constexpr std::size_t databases = 16;

bool expired(const redis_model::item& i, redis_model::time wall)
{
    return i.expires_at && wall > *i.expires_at;
}

} // namespace

redis_model::redis_model(std::string run_id, std::string password)
    : data_(databases),
      run_id_(std::move(run_id)),
      password_(std::move(password))
{}

void redis_model::receive(session& from, std::string_view bytes, time wall, std::string& replies)
{
    if (from.closed)
        return;
    if (from.id == 0)
        from.id = ++sessions_;
    if (from.input.empty()) {
        const std::size_t taken = serve(from, bytes, wall, replies);
        from.input.assign(bytes.substr(taken));
    } else {
        from.input += bytes;
        if (from.input.size() < from.needed)
            return;
        from.input.erase(0, serve(from, from.input, wall, replies));
    }
    if (from.closed) {
        from.input.clear();
        from.presence.reset();
    }
}

// Executes the complete commands. Returns the number of bytes they took.
std::size_t redis_model::serve(
    session& from, std::string_view input, time wall, std::string& replies)
{
    std::size_t done = 0;
    from.needed = 0;
    while (done < input.size() && !from.closed) {
        std::size_t at = done;
        const step found = take(from, input, at);
        if (found == step::incomplete) {
            if (from.needed > 0)
                from.needed -= done;
            break;
        }
        done = at;
        call command{*this, from, arguments_, wall, replies};
        if (found == step::error) {
            command.error(failure_);
            from.closed = true;
        } else if (found == step::command) {
            serving_ = from.id;
            replies_ = &replies;
            command.execute();
            replies += std::exchange(after_reply_, {});
            serving_ = 0;
        } else {
            from.caching = false;
        }
    }
    return done;
}

const redis_model::item* redis_model::find(
    const std::string& key, time wall, unsigned database) const
{
    const auto found = data_[database].find(key);
    return found == data_[database].end() || expired(found->second, wall) ? nullptr
                                                                          : &found->second;
}

void redis_model::store(std::string key, item value, unsigned database)
{
    const auto stored = data_[database].insert_or_assign(std::move(key), std::move(value)).first;
    changed(*stored);
}

bool redis_model::active() const noexcept
{
    return state != trouble::read_only && state != trouble::loading && state != trouble::busy;
}

void redis_model::expire(time wall)
{
    if (wall <= first_end_ || !active())
        return;
    first_end_ = time::max();
    for (keyspace& keys : data_) {
        for (auto each = keys.begin(); each != keys.end();) {
            if (expired(each->second, wall)) {
                each = remove(keys, each);
                continue;
            }
            if (each->second.expires_at)
                first_end_ = std::min(first_end_, *each->second.expires_at);
            ++each;
        }
    }
}

redis_model::keyspace::iterator redis_model::remove(keyspace& from, keyspace::iterator which)
{
    const auto next = std::next(which);
    const auto gone = from.extract(which);
    tell_of_change(gone.key());
    if (on_change)
        on_change(gone.key(), nullptr);
    return next;
}

void redis_model::changed(const keyspace::value_type& key)
{
    if (key.second.expires_at)
        first_end_ = std::min(first_end_, *key.second.expires_at);
    tell_of_change(key.first);
    if (on_change)
        on_change(key.first, &key.second);
}

void redis_model::restart(std::string run_id, data contents)
{
    run_id_ = std::move(run_id);
    data_ = std::move(contents);
    data_.resize(std::max(data_.size(), databases));
    first_end_ = time::min(); // check all keys once
    listeners_.clear();
    watched_.clear();
    forget_scripts();
}

redis_model::keyspace::iterator redis_model::call::look_up(std::string_view key)
{
    server.key_.assign(key);
    const auto found = keys().find(server.key_);
    if (found == none() || !expired(found->second, wall))
        return found;
    if (server.state != trouble::read_only) // a replica leaves deletions to its primary
        server.remove(keys(), found);
    return none();
}

// `found` is the result of look_up() for this key, just before.
void redis_model::call::assign(std::string_view key, keyspace::iterator found,
    std::string_view value, std::optional<time> expires_at)
{
    if (found == none()) {
        server.key_.assign(key);
        found = keys().try_emplace(server.key_).first;
    }
    item& i = found->second;
    i.is = item::kind::string;
    i.value.assign(value);
    i.members = {};
    i.expires_at = expires_at;
    server.changed(*found);
}

void redis_model::call::remove(keyspace::iterator which)
{
    server.remove(keys(), which);
}

} // namespace holdfast::test

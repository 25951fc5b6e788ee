#include "saboteur.hpp"

#include <algorithm>
#include <utility>

namespace flash_sale {
namespace {

// Of a single server. Nothing is sold meanwhile but by the holder of the lock.
constexpr std::chrono::seconds pause_length(3);

} // namespace

saboteur::saboteur(const settings& wanted, lock_servers* servers)
    : servers_(servers),
      expected_(std::min(wanted.stock, wanted.buyers))
{
    if (!wanted.faults || servers == nullptr)
        return;
    const unsigned spare = (wanted.nodes - 1) / 2;
    kills_ = spare >= 1 || servers->is_alone();
    pauses_ = spare >= 2 || servers->is_alone();
}

std::string saboteur::act(std::size_t sold)
{
    if (kills_ && losses_.killed == 0 && sold >= expected_ / 3)
        return kill();
    if (pauses_ && losses_.paused == 0 && sold >= expected_ / 2)
        return pause();
    if (paused_ && may_resume(sold))
        return resume();
    return {};
}

std::string saboteur::kill()
{
    const auto victim = servers_->most_important();
    ++losses_.killed;
    servers_->kill(victim);
    if (!servers_->is_alone())
        return name(victim) + " killed";
    servers_->restart(victim);
    losses_.restarted = true;
    return name(victim) + " killed, and started again";
}

std::string saboteur::pause()
{
    paused_ = servers_->most_important();
    paused_at_ = std::chrono::steady_clock::now();
    ++losses_.paused;
    servers_->pause(*paused_);
    return name(*paused_) + " paused";
}

std::string saboteur::resume()
{
    const auto victim = *std::exchange(paused_, std::nullopt);
    servers_->resume(victim);
    return name(victim) + " resumed";
}

// A single server must continue before anything is sold; of several, one waits for the sale.
bool saboteur::may_resume(std::size_t sold) const
{
    if (servers_->is_alone())
        return std::chrono::steady_clock::now() - paused_at_ >= pause_length;
    return sold >= expected_ - expected_ / 6;
}

std::string saboteur::name(std::size_t server) const
{
    return "lock node at " + servers_->name(server);
}

} // namespace flash_sale

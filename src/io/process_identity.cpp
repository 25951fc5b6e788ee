#include "io/process_identity.hpp"

#include <array>
#include <cerrno>

#include <unistd.h>

namespace holdfast::io {

std::chrono::nanoseconds wall_clock() noexcept
{
    return std::chrono::system_clock::now().time_since_epoch();
}

core::client_identity identify_process()
{
    core::client_identity self;
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) == 0)
        self.host = host.data();
    self.program = program_invocation_short_name;
    self.pid = static_cast<std::uint32_t>(::getpid());
    self.started = std::chrono::floor<std::chrono::seconds>(wall_clock()).count();
    return self;
}

} // namespace holdfast::io

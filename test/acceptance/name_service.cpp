// The look-up of host names, between the library and the system: the program's own definition of
// getaddrinfo() comes before that of the C library.
#include "acceptance/name_service.hpp"

#include <dlfcn.h>
#include <netdb.h>

#include <condition_variable>
#include <mutex>
#include <string_view>

namespace {

std::mutex mutex;
std::condition_variable changed;
bool silent = false;
int asked_so_far = 0;
int waiting = 0;

int never_mind()
{
    std::unique_lock lock(mutex);
    ++asked_so_far;
    ++waiting;
    changed.wait(lock, [] { return !silent; });
    --waiting;
    changed.notify_all();
    return EAI_AGAIN;
}

} // namespace

extern "C" int getaddrinfo(
    const char* name, const char* service, const addrinfo* hints, addrinfo** result)
{
    const std::string_view host = name == nullptr ? "" : name;
    if (host.ends_with(".silent.invalid"))
        return never_mind();
    if (host.ends_with(".invalid"))
        return EAI_NONAME;
    static const auto system =
        reinterpret_cast<decltype(&::getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    return system(name, service, hints, result);
}

namespace holdfast::test {

silent_name_service::silent_name_service()
{
    const std::lock_guard lock(mutex);
    silent = true;
    asked_so_far = 0;
}

silent_name_service::~silent_name_service()
{
    std::unique_lock lock(mutex);
    silent = false;
    changed.notify_all();
    changed.wait(lock, [] { return waiting == 0; });
}

int silent_name_service::asked() const
{
    const std::lock_guard lock(mutex);
    return asked_so_far;
}

} // namespace holdfast::test

// Replaces the look-up of host names: the program's own definition of getaddrinfo() takes
// precedence over that of the C library.
#include "support/name_service.hpp"

#include <dlfcn.h>
#include <netdb.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace {

std::mutex mutex;
std::condition_variable changed;
bool silent = false;
int asked_so_far = 0;
int waiting = 0;

std::map<std::string, std::vector<std::string>, std::less<>> named;

std::vector<std::string> addresses_of(std::string_view host)
{
    const std::lock_guard lock(mutex);
    const auto found = named.find(host);
    return found == named.end() ? std::vector<std::string>() : found->second;
}

int wait_while_silent()
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
        return wait_while_silent();
    static const auto system =
        reinterpret_cast<decltype(&::getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    if (!host.ends_with(".invalid"))
        return system(name, service, hints, result);

    const auto addresses = addresses_of(host);
    for (const std::string& each : addresses) {
        if (const int error = system(each.c_str(), service, hints, result); error != 0)
            return error; // the addresses so far leak; the test fails anyway
        while (*result != nullptr)
            result = &(*result)->ai_next;
    }
    return addresses.empty() ? EAI_NONAME : 0;
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

named_addresses::named_addresses(std::string name, std::vector<std::string> addresses)
    : name_(std::move(name))
{
    const std::lock_guard lock(mutex);
    named[name_] = std::move(addresses);
}

named_addresses::~named_addresses()
{
    const std::lock_guard lock(mutex);
    named.erase(name_);
}

int silent_name_service::asked() const
{
    const std::lock_guard lock(mutex);
    return asked_so_far;
}

} // namespace holdfast::test

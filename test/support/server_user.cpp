#include "support/server_user.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace holdfast::test {
namespace {

constexpr auto server_user = "postgres";

} // namespace

// setpriv asks for the signal at the parent's death after the change of the user, which ends an
// earlier request.
std::vector<std::string> as_server_user(const std::vector<std::string>& words)
{
    std::vector<std::string> all{"setpriv", "--pdeathsig=QUIT"};
    if (::geteuid() == 0) {
        const std::string user = server_user;
        all.insert(all.end(), {"--reuid=" + user, "--regid=" + user, "--init-groups"});
    }
    all.insert(all.end(), words.begin(), words.end());
    return all;
}

void give_to_server_user(const std::string& path)
{
    if (::geteuid() != 0)
        return;
    const passwd* const user = ::getpwnam(server_user);
    if (user == nullptr)
        throw std::runtime_error("PostgreSQL does not run as root, and there is no user postgres");
    if (::chown(path.c_str(), user->pw_uid, user->pw_gid) != 0)
        throw std::system_error(errno, std::generic_category(), path);
}

} // namespace holdfast::test

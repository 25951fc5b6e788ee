#pragma once

#include <string>
#include <vector>

namespace holdfast::test {

/// PostgreSQL and PgBouncer refuse to run as root. Then they run as the user `postgres`, which
/// Debian's packages make. Otherwise they run as the user of this process.

/// The command line that runs these words as that user. The process gets SIGQUIT, which stops a
/// server at once with all its processes, when the thread that started it ends.
std::vector<std::string> as_server_user(const std::vector<std::string>& words);

/// Makes that user the owner of a file or a folder. Throws if there is no such user.
void give_to_server_user(const std::string& path);

} // namespace holdfast::test

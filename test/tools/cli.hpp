#pragma once

#include "support/child_process.hpp"
#include "support/redis_server.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace holdfast::test {

using words = std::vector<std::string>;

/// The program `holdfast` as a process. Both of its outputs are read as one. It sees only the
/// variables of the environment that are given here ("NAME=value"), and PATH.
child_process start_cli(const words& arguments, const words& variables = {});
/// With `redirections` of a shell.
child_process start_cli(
    const words& arguments, const words& variables, const std::string& redirections);

// A password that no output may contain.
inline constexpr const char* secret = "Tr0ub4dor-secret";

struct cli_result {
    int status = -1;
    std::string output;
};

/// Whether the text has this part.
bool has(const std::string& text, const std::string& part);

/// Runs it to its end.
cli_result run_cli(const words& arguments, const words& variables = {});
/// The result goes to this file, and messages are read.
cli_result run_cli_into(
    const std::string& file, const words& arguments, const words& variables = {});

/// All lines until the end of the output.
std::string read_all(child_process& process);

/// "HOLDFAST_STORE=…" with all of these servers.
std::string store_of(const std::vector<redis_server>& servers);

/// `holdfast run` that holds this lock until it is killed or loses it.
child_process hold(const std::string& name, const words& variables, const std::string& ttl = "1m");

/// The process id that stands in the next line of the output.
pid_t read_pid(child_process& process);

} // namespace holdfast::test

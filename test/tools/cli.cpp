#include "tools/cli.hpp"

#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace holdfast::test {

child_process start_cli(const words& arguments, const words& variables)
{
    return start_cli(arguments, variables, "2>&1");
}

child_process start_cli(
    const words& arguments, const words& variables, const std::string& redirections)
{
    words all{"sh", "-c", "exec env -i --default-signal=PIPE \"$@\" " + redirections, "sh",
        "PATH=" + std::string(getenv("PATH"))};
    all.insert(all.end(), variables.begin(), variables.end());
    all.emplace_back(HOLDFAST_CLI);
    all.insert(all.end(), arguments.begin(), arguments.end());
    return child_process(all);
}

std::string read_all(child_process& process)
{
    std::string text;
    for (std::string line = process.read_line(); !line.empty(); line = process.read_line())
        text += line + "\n";
    return text;
}

namespace {

cli_result end_of(child_process process)
{
    cli_result result;
    char buffer[4'000]; // not read_line(): an empty line is not the end
    for (ssize_t size = 0; (size = ::read(process.output(), buffer, sizeof buffer)) > 0;)
        result.output.append(buffer, static_cast<std::size_t>(size));
    result.status = process.wait();
    return result;
}

} // namespace

cli_result run_cli(const words& arguments, const words& variables)
{
    return end_of(start_cli(arguments, variables));
}

cli_result run_cli_into(const std::string& file, const words& arguments, const words& variables)
{
    return end_of(start_cli(arguments, variables, "2>&1 >" + file));
}

std::string store_of(const std::vector<redis_server>& servers)
{
    std::string all = "HOLDFAST_STORE=";
    for (const std::string& url : urls(servers))
        all += (all.back() == '=' ? "" : ",") + url;
    return all;
}

bool has(const std::string& text, const std::string& part)
{
    return text.find(part) != text.npos;
}

child_process hold(const std::string& name, const words& variables, const std::string& ttl)
{
    auto holder = start_cli(
        {"run", "--ttl", ttl, name, "--", "sh", "-c", "echo holds; exec sleep 1000"}, variables);
    if (const std::string line = holder.read_line(); line != "holds")
        throw std::runtime_error("it does not hold the lock: " + line);
    return holder;
}

pid_t read_pid(child_process& process)
{
    const std::string line = process.read_line();
    if (line.empty() || line.find_first_not_of("0123456789") != line.npos)
        throw std::runtime_error("no process id: " + line);
    return static_cast<pid_t>(std::stol(line));
}

} // namespace holdfast::test

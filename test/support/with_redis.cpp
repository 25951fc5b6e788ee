// Runs a command together with real Redis servers, and stops them afterwards:
//
//     with_redis 3 program argument {} argument
//
// starts 3 servers and inserts their URLs in place of "{}", or at the end. Exits with the status of
// the command.

#include "support/child_process.hpp"
#include "support/redis_server.hpp"

#include <csignal>

#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

std::vector<std::string> command_line(
    const std::vector<std::string>& words, const std::vector<std::string>& urls)
{
    std::vector<std::string> all;
    bool placed = false;
    for (const auto& word : words) {
        if (word == "{}") {
            all.insert(all.end(), urls.begin(), urls.end());
            placed = true;
        } else {
            all.push_back(word);
        }
    }
    if (!placed)
        all.insert(all.end(), urls.begin(), urls.end());
    return all;
}

int run(const std::vector<std::string>& words)
{
    using holdfast::test::child_options;
    holdfast::test::child_process command(
        words, {.piped = child_options::pipes::none, .own_group = false});
    // Ctrl-C reaches the command too. This process must outlive it, to stop the servers.
    std::signal(SIGINT, SIG_IGN);
    return command.wait();
}

} // namespace

int main(int argc, char** argv)
try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() < 2) {
        std::cerr << "usage: with_redis <number of servers> <command> [argument | {}] ...\n";
        return 2;
    }
    const auto servers = holdfast::test::start_servers(std::stoul(words.front()));
    return run(command_line({words.begin() + 1, words.end()}, holdfast::test::urls(servers)));
} catch (const std::exception& e) {
    std::cerr << "with_redis: " << e.what() << '\n';
    return 2;
}

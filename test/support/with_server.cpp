// Runs a command together with a real server of a store beside Redis, and stops it afterwards:
//
//     with_server zookeeper program argument
//
// appends where the server is, in the words that the examples have. Exits with the status of the
// command.

#include "support/child_process.hpp"
#ifdef HOLDFAST_WITH_MYSQL_SERVERS
#include "support/mariadb_server.hpp"
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER_SERVERS
#include "support/zookeeper_servers.hpp"
#endif

#include <csignal>

#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using words = std::vector<std::string>;

int run(words command, const words& where)
{
    using holdfast::test::child_options;
    command.insert(command.end(), where.begin(), where.end());
    holdfast::test::child_process process(
        command, {.piped = child_options::pipes::none, .own_group = false});
    // Ctrl-C reaches the command too. This process must outlive it, to stop the server.
    std::signal(SIGINT, SIG_IGN);
    return process.wait();
}

int run_with(const std::string& store, const words& command)
{
#ifdef HOLDFAST_WITH_ZOOKEEPER_SERVERS
    if (store == "zookeeper") {
        const holdfast::test::zookeeper_servers server;
        return run(command, {server.url("/locks")});
    }
#endif
#ifdef HOLDFAST_WITH_MYSQL_SERVERS
    if (store == "mysql") {
        const holdfast::test::mariadb_server server({.listens = true});
        return run(command, {"127.0.0.1:" + std::to_string(server.port()), "root", "shop"});
    }
#endif
    throw std::invalid_argument("no server of " + store);
}

} // namespace

int main(int argc, char** argv)
try {
    const words all(argv + 1, argv + argc);
    if (all.size() < 2) {
        std::cerr << "usage: with_server <store> <command> [argument] ...\n";
        return 2;
    }
    return run_with(all.front(), {all.begin() + 1, all.end()});
} catch (const std::exception& e) {
    std::cerr << "with_server: " << e.what() << '\n';
    return 2;
}

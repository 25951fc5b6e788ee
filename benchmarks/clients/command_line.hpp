#pragma once

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/program_options.hpp>

#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace benchmark {

// Parses the command line of a client of the harness: its own options, and the nodes. Returns false
// if it has printed the help.
inline bool parse(boost::program_options::options_description& options,
    std::vector<std::string>& nodes, int argc, char** argv)
{
    namespace po = boost::program_options;
    options.add_options()("help", "show this text")("node",
        po::value(&nodes)->required()->value_name("URL"),
        "a Redis node or a member of etcd, may be repeated; or the URL of another store");
    po::variables_map given;
    po::store(po::parse_command_line(argc, argv, options), given);
    if (given.count("help") != 0) {
        std::cout << options;
        return false;
    }
    po::notify(given);
    return true;
}

// Prints the line of JSON that the harness reads.
inline void print(const boost::json::object& figures)
{
    std::cout << boost::json::serialize(figures) << std::endl;
}

// Runs the program and prints exceptions. Returns the exit status.
template <class Run>
int guarded(const char* program, Run run)
try {
    run();
    return 0;
} catch (const std::exception& e) {
    std::cerr << program << ": " << e.what() << '\n';
    return 2;
}

} // namespace benchmark

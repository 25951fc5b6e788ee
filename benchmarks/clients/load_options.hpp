#pragma once

#include "command_line.hpp"
#include "load.hpp"
#include "quantiles.hpp"

#include <cstddef>

namespace benchmark {

// The common options of all load programs. A program can add its own options.
class load_options {
public:
    explicit load_options(const char* program) : options_(program)
    {
        namespace po = boost::program_options;
        const auto number = [](std::size_t& n) {
            return po::value(&n)->default_value(n)->value_name("N");
        };
        add()("concurrency", number(load_.concurrency), "locks in flight");
        add()("length", number(length_), "milliseconds that are measured");
        add()("warm-up", number(warm_up_), "milliseconds before the measurement");
        add()("latency", po::bool_switch(&load_.latency), "measure the latency of each lock");
    }

    boost::program_options::options_description_easy_init add() { return options_.add_options(); }

    // Returns false if it has printed the help.
    bool parse(int argc, char** argv)
    {
        if (!benchmark::parse(options_, nodes_, argc, argv))
            return false;
        load_.length = std::chrono::milliseconds(length_);
        load_.warm_up = std::chrono::milliseconds(warm_up_);
        return true;
    }

    const load& wanted() const { return load_; }
    const std::vector<std::string>& nodes() const { return nodes_; }

private:
    boost::program_options::options_description options_;
    load load_;
    std::size_t length_ = 1'000, warm_up_ = 200;
    std::vector<std::string> nodes_;
};

// The figures that such a program prints.
inline boost::json::object figures(result r)
{
    boost::json::object all{
        {"locks", r.locks}, {"seconds", r.seconds}, {"cpu_seconds", r.cpu_seconds}};
    if (r.all_locks != 0) {
        all["all_locks"] = r.all_locks;
        all["more_requests"] = r.more_requests;
    }
    add_quantiles(all, "acquire_us", r.acquire_us);
    add_quantiles(all, "cycle_us", r.cycle_us);
    return all;
}

} // namespace benchmark

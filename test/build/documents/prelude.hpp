#pragma once

// What the code in the documents takes for granted: the headers and names of a program that uses
// the library. The blocks are compiled, not run.

#include <holdfast/holdfast.hpp>
#include <holdfast/tls.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <csignal>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using asio::awaitable;

struct order_data {
    std::string item, buyer;
};

extern const std::string password;

asio::awaitable<void> process(order_data order);
asio::awaitable<void> deduct_stock();
asio::awaitable<void> write_report();

// A client of the protected store.
struct shop {
    asio::awaitable<std::string> send(std::string request);
};

#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/json/object.hpp>

#include <cstdint>
#include <functional>

// The processes of the sale tell each other JSON objects, one a line.
namespace flash_sale_web {

namespace asio = boost::asio;
namespace json = boost::json;

/// Calls `handle` for each object. Returns at the end of the stream. Throws on anything else than
/// an object.
asio::awaitable<void> read_json_lines(
    asio::posix::stream_descriptor& from, std::function<void(const json::object&)> handle);

/// To standard output. Ends this process if nobody reads it any more.
void print_json_line(const json::object& what);

/// A whole number of an object. Throws if there is none.
std::int64_t number(const json::object& from, const char* name);

} // namespace flash_sale_web

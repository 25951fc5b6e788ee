#pragma once

#include "etcd/member_settings.hpp"

#include <string_view>

namespace holdfast::etcd_store {

// `http://host[:port]` or `https://host[:port]`. Throws std::invalid_argument, whose message does
// not repeat the URL: it could have a password in it.
member_address parse_url(std::string_view url);

} // namespace holdfast::etcd_store

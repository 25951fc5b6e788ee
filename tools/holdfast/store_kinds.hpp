#pragma once

#include "holdfast/stores.hpp"

#include <string>
#include <vector>

// The kinds of stores beside Redis. Each function that opens one throws `std::invalid_argument` if
// a setting is wrong, or this program was built without that store.
namespace holdfast::cli {

bool is_etcd(const std::string& url);
backend open_etcd(const store_settings& settings, use purpose);
/// A client uses one member at a time: one store for each of them.
std::vector<backend> open_each_member_of_etcd(const store_settings& settings);

bool is_postgresql(const std::string& url);
/// A parameter of the URI, which begins anywhere in the word.
bool has_password_of_postgresql(const std::string& word);
backend open_postgresql(const store_settings& settings);

bool is_zookeeper(const std::string& url);
backend open_zookeeper(const store_settings& settings, use purpose);
/// As with etcd.
std::vector<backend> open_each_server_of_zookeeper(const store_settings& settings);

bool is_mysql(const std::string& url);
backend open_mysql(const store_settings& settings);

} // namespace holdfast::cli

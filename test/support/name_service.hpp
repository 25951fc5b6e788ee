#pragma once

#include <string>
#include <vector>

namespace holdfast::test {

/// While it lives, look-ups of names that end in ".silent.invalid" are not answered. All other
/// names in ".invalid" do not exist. No look-up of such a name ever leaves this process. The
/// destructor releases waiting look-ups and waits until they have ended.
class silent_name_service {
public:
    silent_name_service();
    silent_name_service(const silent_name_service&) = delete;
    silent_name_service& operator=(const silent_name_service&) = delete;
    ~silent_name_service();

    int asked() const; ///< the number of look-ups that were not answered
};

/// While it lives, a name has these addresses, in this order.
class named_addresses {
public:
    named_addresses(std::string name, std::vector<std::string> addresses);
    named_addresses(const named_addresses&) = delete;
    named_addresses& operator=(const named_addresses&) = delete;
    ~named_addresses();

private:
    std::string name_;
};

} // namespace holdfast::test

#pragma once

#include <string>
#include <vector>

namespace holdfast::test {

/// While it lives, look-ups of names that end in ".silent.invalid" are not answered. All other
/// names in ".invalid" do not exist; none of them is asked for outside this process, at any time.
/// The destructor lets go of those who wait, and waits for them.
class silent_name_service {
public:
    silent_name_service();
    silent_name_service(const silent_name_service&) = delete;
    silent_name_service& operator=(const silent_name_service&) = delete;
    ~silent_name_service();

    int asked() const; ///< how many look-ups have not been answered
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

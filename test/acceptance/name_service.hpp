#pragma once

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

} // namespace holdfast::test

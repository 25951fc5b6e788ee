#include "io/recycled.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace {

template <std::size_t Size>
struct thing : holdfast::io::recycled {
    virtual ~thing() = default;
    std::array<char, Size - sizeof(void*)> contents{};
};

template <class Thing>
std::uintptr_t address_of(const Thing& t)
{
    return reinterpret_cast<std::uintptr_t>(&t);
}

} // namespace

BOOST_AUTO_TEST_SUITE(shell_recycled)

#ifndef __SANITIZE_ADDRESS__ // which shall see what is used after it has gone
// For what is a little larger too: malloc alone would not do that.
BOOST_AUTO_TEST_CASE(the_memory_of_what_is_gone_is_used_again)
{
    auto first = std::make_unique<thing<104>>();
    const std::uintptr_t where = address_of(*first);
    first.reset();
    const auto second = std::make_unique<thing<128>>();
    BOOST_TEST(address_of(*second) == where);
}
#endif

// More than a thread keeps; the rest is given back. When it ends, so is the rest.
BOOST_AUTO_TEST_CASE(a_thread_may_end_with_what_others_have_made)
{
    std::vector<std::unique_ptr<thing<104>>> all(200);
    for (auto& each : all)
        each = std::make_unique<thing<104>>();
    std::thread([&] { all.clear(); }).join();
    BOOST_TEST(all.empty());
}

BOOST_AUTO_TEST_SUITE_END()

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

BOOST_AUTO_TEST_SUITE(io_recycled)

#ifndef __SANITIZE_ADDRESS__ // memory is not reused, so that use after free is found
// For a slightly larger object too: malloc alone would not do that.
BOOST_AUTO_TEST_CASE(freed_memory_is_reused)
{
    auto first = std::make_unique<thing<104>>();
    const std::uintptr_t where = address_of(*first);
    first.reset();
    const auto second = std::make_unique<thing<128>>();
    BOOST_TEST(address_of(*second) == where);
}
#endif

// More objects than a thread keeps: the excess is freed at once, the others when the thread ends.
BOOST_AUTO_TEST_CASE(a_thread_may_free_objects_of_another_thread_and_end)
{
    std::vector<std::unique_ptr<thing<104>>> all(200);
    for (auto& each : all)
        each = std::make_unique<thing<104>>();
    std::thread([&] { all.clear(); }).join();
    BOOST_TEST(all.empty());
}

BOOST_AUTO_TEST_SUITE_END()

// The version is written once. What cannot read it from there must agree with it.
#include <holdfast/version.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

const std::string version = HOLDFAST_VERSION_STRING;

std::string content(const char* file)
{
    std::ifstream in(std::filesystem::path(HOLDFAST_SOURCE_DIR) / file);
    return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace

BOOST_AUTO_TEST_SUITE(version_test)

BOOST_AUTO_TEST_CASE(number_and_text_agree)
{
    static_assert(HOLDFAST_VERSION / 1'000'000 == HOLDFAST_VERSION_MAJOR);
    static_assert(HOLDFAST_VERSION / 1'000 % 1'000 == HOLDFAST_VERSION_MINOR);
    static_assert(HOLDFAST_VERSION % 1'000 == HOLDFAST_VERSION_PATCH);
    BOOST_TEST(version == std::to_string(HOLDFAST_VERSION_MAJOR) + "." +
                              std::to_string(HOLDFAST_VERSION_MINOR) + "." +
                              std::to_string(HOLDFAST_VERSION_PATCH));
    BOOST_TEST(version == HOLDFAST_PROJECT_VERSION); // as CMake has read it
}

BOOST_AUTO_TEST_CASE(packages_agree)
{
    BOOST_TEST(content("packaging/vcpkg/ports/holdfast/vcpkg.json")
                   .find("\"version\": \"" + version + "\"") != std::string::npos);
    BOOST_TEST(content("CHANGELOG.md").find("\n## [" + version + "]") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

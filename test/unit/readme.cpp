// The C++ code in the README and in docs is part of programs that are compiled and run.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

const std::filesystem::path root = HOLDFAST_SOURCE_DIR;

std::string content(const std::filesystem::path& file)
{
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string without_spaces(std::string text)
{
    const auto is_space = [](unsigned char c) {
        return std::isspace(c) != 0;
    };
    text.erase(std::remove_if(text.begin(), text.end(), is_space), text.end());
    return text;
}

std::vector<std::string> cpp_blocks(const std::string& markdown)
{
    std::vector<std::string> blocks;
    for (std::size_t at = markdown.find("```cpp"); at != std::string::npos;) {
        const std::size_t begin = at + 6, end = markdown.find("```", begin);
        blocks.push_back(markdown.substr(begin, end - begin));
        at = markdown.find("```cpp", end);
    }
    return blocks;
}

} // namespace

BOOST_AUTO_TEST_SUITE(readme_test)

// Every C++ block of the documents is found in one of the examples, apart from white space.
BOOST_AUTO_TEST_CASE(examples_are_compiled)
{
    std::string examples;
    for (const auto& entry : std::filesystem::directory_iterator(root / "examples")) {
        if (entry.path().extension() == ".cpp")
            examples += without_spaces(content(entry.path()));
    }
    for (const char* const document : {"README.md", "docs/fencing.md"}) {
        const auto blocks = cpp_blocks(content(root / document));
        BOOST_TEST(!blocks.empty());
        for (const std::string& block : blocks)
            BOOST_TEST(examples.find(without_spaces(block)) != std::string::npos, block);
    }
}

BOOST_AUTO_TEST_SUITE_END()

// The help, the man page, the completions and docs/cli.md name the same commands and options.
#include "tools/cli.hpp"

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace {

using namespace holdfast::test;
using names = std::set<std::string>;

std::string content(const std::string& file)
{
    std::ifstream in(std::filesystem::path(HOLDFAST_SOURCE_DIR) / file);
    return {std::istreambuf_iterator<char>(in), {}};
}

// The first group of all matches.
names found(const std::string& text, const std::string& pattern)
{
    const std::regex wanted(pattern, std::regex::ECMAScript | std::regex::multiline);
    names all;
    for (std::sregex_iterator at(text.begin(), text.end(), wanted), end; at != end; ++at)
        all.insert((*at)[1]);
    return all;
}

std::string help_of(const words& arguments)
{
    words all = arguments;
    all.emplace_back("--help");
    return run_cli(all).output;
}

names commands()
{
    const std::string help = help_of({});
    const auto begin = help.find("\nCommands:");
    BOOST_REQUIRE(begin != help.npos);
    return found(help.substr(begin, help.find("\nExamples:") - begin), "^  ([a-z]+) ");
}

names options()
{
    constexpr const char* long_name = "^  (?:-[a-zA-Z],)?--([a-z-]+)";
    names all = found(help_of({}), long_name);
    for (const std::string& command : commands())
        all.merge(found(help_of({command}), long_name));
#ifndef HOLDFAST_WITH_TLS
    all.insert({"ca-file", "cert", "key"}); // the documents describe them nevertheless
#endif
    return all;
}

void check_equal(const names& documented, const names& real, const std::string& where)
{
    for (const std::string& name : real)
        BOOST_TEST(documented.contains(name), where << " does not name " << name);
    for (const std::string& name : documented)
        BOOST_TEST(real.contains(name), where << " names " << name);
}

} // namespace

BOOST_AUTO_TEST_SUITE(cli_documents)

BOOST_AUTO_TEST_CASE(options_are_the_same_everywhere)
{
    const names real = options();
    BOOST_TEST(real.contains("store"));
    BOOST_TEST(real.contains("ttl"));
    BOOST_TEST(real.contains("timeout"));
    check_equal(found(content("tools/man/holdfast.1"), "^\\.It (?:Fl \\w , )?Fl -([a-z-]+)"), real,
        "the man page");
    check_equal(found(content("docs/cli.md"), "--([a-z][a-z-]*)"), real, "docs/cli.md");
    check_equal(found(content("tools/completions/holdfast.bash"), "--([a-z][a-z-]*)"), real,
        "the completion of bash");
    check_equal(found(content("tools/completions/_holdfast"), "--([a-z][a-z-]*)"), real,
        "the completion of zsh");
    check_equal(found(content("tools/completions/holdfast.fish"), " -l ([a-z-]+)"), real,
        "the completion of fish");
}

// The part of a text from `begin` to the first `end` after it.
std::string part(const std::string& text, const std::string& begin, const std::string& end)
{
    const auto from = text.find(begin);
    BOOST_REQUIRE_MESSAGE(from != text.npos, begin);
    return text.substr(from, text.find(end, from + begin.size()) - from);
}

BOOST_AUTO_TEST_CASE(each_command_has_its_own_options)
{
    const std::string man = content("tools/man/holdfast.1") + "\n.Ss ";
    const std::string text = content("docs/cli.md"),
                      bash = content("tools/completions/holdfast.bash");
    const std::string zsh = content("tools/completions/_holdfast"),
                      fish = content("tools/completions/holdfast.fish");
    for (const std::string& command : commands()) {
        names real = found(help_of({command}), "^  (?:-[a-zA-Z],)?--([a-z-]+)");
        real.erase("help");
        check_equal(found(part(man, "\n.Ss holdfast " + command + "\n", "\n.Ss "),
                        "^\\.It (?:Fl \\w , )?Fl -([a-z-]+)"),
            real, "the man page, " + command);
        check_equal(
            found(part(bash, "        " + command + ") options+=", ";;"), "--([a-z][a-z-]*)"), real,
            "the completion of bash, " + command);
        check_equal(found(part(zsh, "    " + command + ")\n", ";;"), "--([a-z][a-z-]*)"), real,
            "the completion of zsh, " + command);
        check_equal(found(fish, "'__fish_seen_subcommand_from " + command + "'.* -l ([a-z-]+)"),
            real, "the completion of fish, " + command);
        names described =
            found(part(text, "## holdfast " + command + "\n", "\n## "), "--([a-z][a-z-]*)");
        for (const std::string& each : real)
            BOOST_TEST(described.contains(each), "docs/cli.md, " << command << ": " << each);
    }
}

BOOST_AUTO_TEST_CASE(commands_are_the_same_everywhere)
{
    const names real = commands();
    BOOST_TEST(real.contains("run"));
    check_equal(
        found(content("tools/man/holdfast.1"), "^\\.Ss holdfast (\\w+)$"), real, "the man page");
    check_equal(found(content("docs/cli.md"), "^## holdfast (\\w+)$"), real, "docs/cli.md");
    check_equal(found(content("tools/completions/holdfast.bash"), "^        (\\w+)\\) options\\+="),
        real, "the completion of bash");
    check_equal(found(content("tools/completions/_holdfast"), "^    '(\\w+):"), real,
        "the completion of zsh");
    check_equal(
        found(content("tools/completions/holdfast.fish"), "__fish_use_subcommand -a (\\w+) "), real,
        "the completion of fish");
}

BOOST_AUTO_TEST_CASE(a_wrong_command_is_named)
{
    const auto wrong = run_cli({"unlock", "job"});
    BOOST_TEST(wrong.status == 125);
    BOOST_TEST(has(wrong.output, "there is no command unlock"), wrong.output);
    const auto none = run_cli({});
    BOOST_TEST(none.status == 125);
    BOOST_TEST(has(none.output, "a command is missing"), none.output);
}

// The exit statuses are part of the interface.
BOOST_AUTO_TEST_CASE(statuses_are_documented)
{
    for (const char* file : {"tools/man/holdfast.1", "docs/cli.md"}) {
        for (const char* status : {"123", "124", "125", "126", "127", "128"})
            BOOST_TEST(content(file).find(status) != std::string::npos, file << status);
        for (const char* variable :
            {"HOLDFAST_STORE", "HOLDFAST_USER", "HOLDFAST_PASSWORD", "HOLDFAST_PASSWORD_FILE",
                "HOLDFAST_RESOURCE", "HOLDFAST_TOKEN", "HOLDFAST_DEADLINE", "NO_COLOR"})
            BOOST_TEST(content(file).find(variable) != std::string::npos, file << variable);
    }
}

BOOST_AUTO_TEST_CASE(version)
{
    const auto result = run_cli({"--version"});
    BOOST_TEST(result.status == 0);
    BOOST_TEST(std::regex_match(result.output, std::regex("holdfast \\d+\\.\\d+\\.\\d+\n")));
    BOOST_TEST(run_cli({"--help"}).status == 0);
    BOOST_TEST(run_cli({"run", "--help"}).status == 0);
}

BOOST_AUTO_TEST_SUITE_END()

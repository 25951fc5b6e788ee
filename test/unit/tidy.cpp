// Rules that are checked automatically: the direction of includes, what the cores may not use, the
// length of files and lines.

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;
using names = std::vector<std::string>;

constexpr std::size_t most_lines = 400;
constexpr std::size_t most_columns = 100;

// Public headers that are plain values: no Asio, and no other public headers than these.
const names values{"error", "inspect", "options", "resource", "release_outcome", "stats", "backend",
    "stream_layer", "version", "detail/batch_ending", "detail/export", "events", "histogram",
    "metrics", "tracing"};
const names backend_values{
    "endpoint", "redlock", "redis", "memory", "tls", "etcd", "postgresql", "zookeeper", "mysql"};

const names no_threads{"random", "thread", "mutex", "shared_mutex", "condition_variable", "atomic"};

// What the files of one folder of src may include and use. That of a folder in it stands before it.
struct folder_rule {
    std::string folder;
    names own;            // folders of src
    bool sees_values;     // the public headers above
    names backend_values; // and these public headers of a backend
    names banned;
};

const std::vector<folder_rule> folder_rules{
    {"src/core/", {"core"}, true, {}, no_threads},
    {"src/resp/", {"resp"}, false, {}, no_threads},
    {"src/redis/quorum/", {"redis/quorum", "core"}, true, {}, no_threads},
    {"src/redis/node/", {"redis/node", "redis/quorum", "resp", "core"}, true, {"endpoint"},
        no_threads},
    {"src/redis/claim/", {"redis/claim", "redis/quorum", "core"}, true, {}, no_threads},
    {"src/redis/pool/", {"redis/pool", "redis/claim", "redis/node", "redis/quorum", "resp", "core"},
        true, {"endpoint"}, no_threads},
    {"src/redis/dialect/",
        {"redis/dialect", "redis/pool", "redis/claim", "redis/node", "redis/quorum", "resp",
            "core"},
        true, {"redlock"}, no_threads},
    {"src/redis/queue/",
        {"redis/queue", "redis/dialect", "redis/pool", "redis/claim", "redis/node", "redis/quorum",
            "resp", "core"},
        true, {}, no_threads},
    {"src/redis/inspection/",
        {"redis/inspection", "redis/dialect", "redis/pool", "redis/claim", "redis/node",
            "redis/quorum", "resp", "core"},
        true, {}, no_threads},
    {"src/redis/",
        {"redis", "redis/inspection", "redis/queue", "redis/dialect", "redis/pool", "redis/claim",
            "redis/node", "redis/quorum", "resp", "core"},
        true, {"endpoint", "redlock", "redis"}, no_threads},
    {"src/recipes/", {"recipes", "core"}, true, {}, no_threads},
    {"src/etcd/wire/", {"etcd/wire"}, false, {}, no_threads},
    {"src/etcd/", {"etcd", "etcd/wire", "core"}, true, {"etcd"}, no_threads},
    {"src/zookeeper/wire/", {"zookeeper/wire"}, false, {}, no_threads},
    {"src/zookeeper/", {"zookeeper", "zookeeper/wire", "core"}, true, {"zookeeper"}, no_threads},
    {"src/sql/", {"sql", "core"}, true, {}, no_threads},
    {"src/postgresql/", {"postgresql", "sql", "core"}, true, {"postgresql"}, no_threads},
    {"src/mysql/", {"mysql", "sql", "core"}, true, {"mysql"}, no_threads},
    // Its settings are shared by lockers in several threads, so it may use a mutex.
    {"src/tls/", {"tls", "core"}, true, {"tls"},
        {"random", "thread", "condition_variable", "atomic"}},
    // Its store is shared by lockers in several threads, so it may use a mutex.
    {"src/memory/", {"memory", "core"}, true, {"memory"},
        {"random", "thread", "condition_variable", "atomic"}},
};

bool contains(const names& list, std::string_view wanted)
{
    return std::find(list.begin(), list.end(), wanted) != list.end();
}

bool is_code(std::string_view path)
{
    return path.ends_with(".hpp") || path.ends_with(".cpp");
}

// "<a/b.hpp>" or "\"a/b.hpp\"", or empty if the line is no include.
std::string included(std::string_view line)
{
    std::istringstream words{std::string(line)};
    std::string word, target;
    words >> word >> target;
    return word == "#include" ? target : std::string();
}

// The name of a public header: "error" for "<holdfast/error.hpp>".
std::string public_name(std::string_view target)
{
    constexpr std::string_view start = "<holdfast/", end = ".hpp>";
    if (!target.starts_with(start) || !target.ends_with(end))
        return {};
    return std::string(target.substr(start.size(), target.size() - start.size() - end.size()));
}

bool is_value(std::string_view name)
{
    return contains(values, name) || contains(backend_values, name);
}

bool is_asio(std::string_view target)
{
    return target.starts_with("<boost/asio");
}

// Counts characters, not bytes: the later bytes of one character begin with the bits 10.
std::size_t columns(std::string_view line)
{
    return static_cast<std::size_t>(std::count_if(line.begin(), line.end(),
        [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

bool has_word(std::string_view line, std::string_view word)
{
    const auto part_of_word = [&line](std::size_t at) {
        return at < line.size() &&
               (std::isalnum(static_cast<unsigned char>(line[at])) || line[at] == '_');
    };
    for (auto at = line.find(word); at != line.npos; at = line.find(word, at + 1)) {
        const bool begins = at == 0 || !part_of_word(at - 1);
        if (begins && !part_of_word(at + word.size()))
            return true;
    }
    return false;
}

// In pieces, so that this file does not break its own rule.
const names markers{"TO"
                    "DO",
    "FIX"
    "ME",
    "XX"
    "X",
    "HA"
    "CK",
    "W"
    "IP"};

// The included file if this file may not include it, else empty.
std::string forbidden_include(const std::string& path, const std::string& target)
{
    if (target.size() < 2)
        return {};
    const bool quoted = target.starts_with("\"");
    const auto open = public_name(target);
    if (path.starts_with("include/")) {
        const bool foreign = is_asio(target) || (!open.empty() && !is_value(open));
        return quoted || (is_value(public_name("<" + path.substr(8) + ">")) && foreign)
                   ? target
                   : std::string();
    }
    if (!path.starts_with("src/") || path.starts_with("src/io/"))
        return {};
    if (is_asio(target) || target.find("..") != target.npos)
        return target;

    for (const auto& rule : folder_rules) {
        if (!path.starts_with(rule.folder))
            continue;
        const auto slash = target.rfind('/');
        const auto folder = target.substr(1, slash == target.npos ? slash : slash - 1);
        const auto system = target.substr(1, target.size() - 2);
        const bool wrong_folder = quoted && !contains(rule.own, folder);
        const bool right_header =
            (rule.sees_values && contains(values, open)) || contains(rule.backend_values, open);
        const bool wrong_header = target.starts_with("<holdfast/") && !right_header;
        return wrong_folder || wrong_header || contains(rule.banned, system) ? target
                                                                             : std::string();
    }
    return {};
}

// A member function may be named `now`; defining it does not read a clock.
bool reads_clock(const std::string& path, std::string_view line)
{
    const auto code = line.substr(0, line.find("//"));
    return code.find("::now(") != code.npos && code.find("::now() const") == code.npos &&
           std::any_of(folder_rules.begin(), folder_rules.end(),
               [&path](const folder_rule& rule) { return path.starts_with(rule.folder); });
}

names violations(const std::string& path, const std::string& text)
{
    names found;
    std::istringstream lines(text);
    std::size_t number = 0;
    const auto report = [&](const std::string& what) {
        found.push_back(path + ":" + std::to_string(number) + ": " + what);
    };
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (number == 1 && path.starts_with("include/") && line != "#pragma once")
            report("a public header begins with #pragma once");
        if (const auto target = forbidden_include(path, included(line)); !target.empty())
            report("may not include " + target);
        if (reads_clock(path, line))
            report("a core may not read a clock");
        if (is_code(path) && columns(line) > most_columns)
            report("longer than " + std::to_string(most_columns) + " columns");
        for (const auto& marker : markers) {
            if (has_word(line, marker))
                report("left over: " + marker);
        }
    }
    if (number > most_lines)
        report("longer than " + std::to_string(most_lines) + " lines");
    return found;
}

// Sources and build files, not data files.
bool is_source(const fs::path& file)
{
    const std::set<std::string> kinds{".hpp", ".cpp", ".txt", ".cmake", ".sh", ".py", ".in", ".md"};
    return file.extension().empty() || kinds.count(file.extension().string()) == 1;
}

names all_files()
{
    const fs::path root = HOLDFAST_SOURCE_DIR;
    names files;
    for (const auto* folder :
        {"include", "src", "test", "examples", "benchmarks", "cmake", "packaging", "tools"}) {
        if (!fs::exists(root / folder))
            continue;
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            if (entry.is_regular_file() && is_source(entry.path()))
                files.push_back(fs::relative(entry.path(), root).generic_string());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::string read(const std::string& path)
{
    std::ifstream file(fs::path(HOLDFAST_SOURCE_DIR) / path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

using graph = std::map<std::string, std::set<std::string>>;

// Which units of src include which others. A unit is a header with its source file.
graph includes_of(const names& files)
{
    graph units;
    const auto unit = [](const std::string& path) {
        return path.substr(0, path.rfind('.'));
    };
    for (const std::string& path : files) {
        if (!path.starts_with("src/") || !is_code(path))
            continue;
        std::istringstream text(read(path));
        std::set<std::string>& included_units = units[unit(path.substr(4))];
        for (std::string line; std::getline(text, line);) {
            const std::string target = included(line);
            if (target.starts_with("\""))
                included_units.insert(unit(target.substr(1, target.size() - 2)));
        }
    }
    for (auto& [name, included_units] : units)
        included_units.erase(name);
    return units;
}

// Takes away units that include nothing that is left. What cannot be taken away makes circles.
names circles_in(graph units)
{
    for (bool changed = true; changed;) {
        changed = std::erase_if(units, [&units](const auto& unit) {
            return std::none_of(unit.second.begin(), unit.second.end(),
                [&units](const std::string& name) { return units.contains(name); });
        }) != 0;
    }
    names left;
    for (const auto& [name, included_units] : units)
        left.push_back(name);
    return left;
}

// The violations in a file given as "path|text".
std::size_t violations_of(const std::string& sample)
{
    const auto bar = sample.find('|');
    return violations(sample.substr(0, bar), sample.substr(bar + 1)).size();
}

} // namespace

BOOST_AUTO_TEST_SUITE(tidy)

BOOST_AUTO_TEST_CASE(all_files_follow_the_rules)
{
    for (const auto& path : all_files()) {
        for (const auto& violation : violations(path, read(path)))
            BOOST_ERROR(violation);
    }
}

// Guards the test above against looking in the wrong place.
BOOST_AUTO_TEST_CASE(all_folders_are_searched)
{
    const auto files = all_files();
    for (const auto* folder : {"include/holdfast/", "src/core/", "src/resp/", "src/redis/",
             "src/memory/", "src/io/", "test/unit/", "examples/", "tools/holdfast/"}) {
        const bool some = std::any_of(files.begin(), files.end(),
            [folder](const std::string& path) { return path.starts_with(folder); });
        BOOST_TEST(some, "no file in " << folder);
    }
    BOOST_TEST(contains(files, "test/unit/tidy.cpp"));
}

BOOST_AUTO_TEST_CASE(includes_make_no_circle)
{
    for (const std::string& unit : circles_in(includes_of(all_files())))
        BOOST_ERROR(unit + ": part of a circle of includes, or includes one");
    BOOST_TEST(circles_in({{"a", {"b"}}, {"b", {"c"}}, {"c", {}}}).empty());
    BOOST_TEST(circles_in({{"a", {"b"}}, {"b", {"c"}}, {"c", {"b"}}}).size() == 3u);
}

// A new folder of src needs a rule of its own: what it may include, and what it may not use.
BOOST_AUTO_TEST_CASE(each_folder_has_a_rule)
{
    for (const auto& path : all_files()) {
        const auto slash = path.rfind('/');
        if (!path.starts_with("src/") || slash < 4 || path.starts_with("src/io/"))
            continue; // src/io may use everything
        const std::string folder = path.substr(0, slash + 1);
        const bool known = std::any_of(folder_rules.begin(), folder_rules.end(),
            [&folder](const folder_rule& r) { return r.folder == folder; });
        BOOST_TEST(known, "no rule for " << folder);
    }
}

BOOST_AUTO_TEST_CASE(allowed_code_is_accepted)
{
    const names good{"src/core/a.cpp|#include \"core/b.hpp\"",
        "src/core/a.cpp|#include <holdfast/error.hpp>", "src/core/a.cpp|#include <chrono>",
        "src/core/a.cpp|// never calls clock::now()", "src/core/a.cpp|int a::now() const",
        "src/redis/a.cpp|#include \"resp/b.hpp\"", "src/memory/a.cpp|#include <mutex>",
        "src/redis/node/a.cpp|#include \"redis/quorum/b.hpp\"",
        "src/redis/a.cpp|#include <holdfast/endpoint.hpp>", "src/error.cpp|#include <string>",
        "src/io/a.cpp|#include <boost/asio/post.hpp>", "src/io/a.cpp|clock::now();",
        "include/holdfast/lock.hpp|#pragma once\n#include <boost/asio/post.hpp>",
        "test/unit/a.cpp|#include \"core/b.hpp\"",
        "test/unit/a.cpp|\"name-"
        "XX"
        "XXXX\"",
        "test/unit/a.cpp|" + std::string(most_columns, 'x'),
        "src/core/a.cpp|// " + std::string(97, 'x').replace(0, 1, "\xC3\xA9")};
    for (const auto& sample : good)
        BOOST_TEST(violations_of(sample) == 0u, sample);
}

BOOST_AUTO_TEST_CASE(forbidden_code_is_reported)
{
    std::string long_file;
    for (std::size_t i = 0; i <= most_lines; ++i)
        long_file += "\n";
    names bad{"src/core/a.cpp|#include \"redis/b.hpp\"", "src/core/a.cpp|#include \"b.hpp\"",
        "src/core/a.cpp|#include \"io/b.hpp\"", "src/core/a.cpp|#include \"memory/b.hpp\"",
        "src/core/a.cpp|#include \"../io/b.hpp\"", "src/core/a.cpp|#include <holdfast/lock.hpp>",
        "src/core/a.cpp|#include \"core/../io/b.hpp\"", "src/core/a.cpp|#include <random>",
        "src/core/a.cpp|  #include <thread>", "src/core/a.cpp|#include <boost/asio.hpp>",
        "src/core/a.cpp|auto t = clock::now();", "src/resp/a.cpp|#include \"core/b.hpp\"",
        "src/resp/a.cpp|#include <holdfast/error.hpp>", "src/redis/a.cpp|#include <atomic>",
        "src/redis/a.cpp|#include \"io/b.hpp\"", "src/redis/a.cpp|#include <mutex>",
        "src/redis/quorum/a.cpp|#include \"redis/node/b.hpp\"",
        "src/redis/a.cpp|#include <holdfast/lease.hpp>", "src/memory/a.cpp|#include <thread>",
        "src/memory/a.cpp|#include \"redis/b.hpp\"", "src/memory/a.cpp|steady_clock::now()",
        "src/error.cpp|#include <boost/asio/error.hpp>", "include/holdfast/a.hpp|#include <string>",
        "include/holdfast/a.hpp|#pragma once\n#include \"core/a.hpp\"",
        "include/holdfast/error.hpp|#pragma once\n#include <boost/asio/error.hpp>",
        "include/holdfast/stats.hpp|#pragma once\n#include <holdfast/locker.hpp>",
        "test/unit/a.cpp|" + std::string(most_columns + 1, 'x'), "examples/a.cpp|" + long_file};
    for (const auto& marker : markers)
        bad.push_back("benchmarks/a.py|# " + marker + ": later");
    for (const auto& sample : bad)
        BOOST_TEST(violations_of(sample) == 1u, sample);
}

BOOST_AUTO_TEST_SUITE_END()

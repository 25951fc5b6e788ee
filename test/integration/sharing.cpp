// Processes that share permits, read and write, or elect a leader, on real servers; one of them is
// killed while it holds what the others want. Without a lock, they are seen to be together.
#include "support/child_process.hpp"
#include "support/cluster.hpp"
#include "support/temporary_folder.hpp"

#include <algorithm>
#include <deque>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::test {
namespace {

constexpr auto ttl = 3s;
constexpr auto brief_work = 5ms;

struct use {
    std::string role;
    steady::time_point from;
    std::optional<steady::time_point> until; // empty: not over
};

class member {
public:
    member(const std::string& recipe, std::size_t number, std::chrono::milliseconds work,
        const std::string& folder, const std::vector<std::string>& urls)
        : journal_(folder + "/journal-" + std::to_string(number)),
          process_(words(recipe, number, work, urls))
    {}

    std::vector<use> uses() const
    {
        std::vector<use> all;
        std::ifstream file(journal_);
        for (std::string line; std::getline(file, line) && !file.eof();) {
            std::istringstream text(line);
            std::string kind, role, number;
            long long first = 0, second = 0;
            text >> kind >> role >> number >> first >> second;
            if (kind == "held")
                all.push_back({role, time_of(first), {}});
            else
                all.back().until = time_of(second);
        }
        if (killed_ && !all.empty() && !all.back().until)
            all.back().until = *killed_; // it does nothing any more
        return all;
    }

    bool holds() const
    {
        const auto all = uses();
        return !all.empty() && !all.back().until;
    }

    void kill()
    {
        process_.kill();
        killed_ = steady::now();
    }

    void end()
    {
        if (killed_)
            return;
        process_.ask_to_end();
        const std::string line = process_.read_line();
        BOOST_TEST(line == "done");
        BOOST_TEST(process_.wait() == 0);
    }

private:
    static steady::time_point time_of(long long nanoseconds)
    {
        return steady::time_point(std::chrono::nanoseconds(nanoseconds));
    }

    std::vector<std::string> words(const std::string& recipe, std::size_t number,
        std::chrono::milliseconds work, const std::vector<std::string>& urls) const
    {
        std::vector<std::string> all{HOLDFAST_SHARING_WORKER, recipe, std::to_string(number),
            journal_, std::to_string(std::chrono::milliseconds(ttl).count()),
            std::to_string(work.count())};
        all.insert(all.end(), urls.begin(), urls.end());
        return all;
    }

    std::string journal_;
    std::optional<steady::time_point> killed_;
    child_process process_;
};

class group {
    temporary_folder folder_{"sharing"};

public:
    explicit group(std::string recipe) : recipe_(std::move(recipe)) {}

    member& add(std::chrono::milliseconds work)
    {
        return members_.emplace_back(
            recipe_, members_.size(), work, folder_.path(), urls(nodes_.nodes));
    }

    std::vector<use> uses(const std::function<bool(const use&)>& wanted) const
    {
        std::vector<use> all;
        for (const member& each : members_) {
            for (const use& u : each.uses()) {
                if (wanted(u))
                    all.push_back(u);
            }
        }
        return all;
    }

    void wait_for(const std::string& what, const std::function<bool()>& so) const
    {
        const auto deadline = steady::now() + hang_limit;
        while (!so()) {
            BOOST_REQUIRE_MESSAGE(steady::now() < deadline, what << " does not happen");
            std::this_thread::sleep_for(5ms);
        }
    }

    // Waits until there are so many uses that have begun since, and are over.
    void wait_for_uses(std::size_t count, const std::string& role, steady::time_point since) const
    {
        wait_for(role, [&] {
            return uses([&](const use& u) {
                return u.role == role && u.from > since && u.until;
            }).size() >= count;
        });
    }

    void wait_for_all() const
    {
        wait_for("a use of each member", [&] {
            return std::none_of(members_.begin(), members_.end(),
                [](const member& each) { return each.uses().empty(); });
        });
    }

    // Starts a member that keeps what it holds, kills it, and lets the others go on.
    void kill_a_holder(const std::string& role)
    {
        member& keeper = add(1h);
        wait_for("a hold of the member that keeps it", [&] { return keeper.holds(); });
        keeper.kill();
        const auto killed = steady::now();
        wait_for_uses(20, role, killed + ttl);
    }

    void end()
    {
        for (member& each : members_)
            each.end();
    }

    // How many of these uses there were at once.
    std::size_t most_at_once(const std::string& role) const
    {
        std::vector<std::pair<steady::time_point, int>> changes;
        for (const use& u : uses([&](const use& each) { return each.role == role; })) {
            changes.emplace_back(u.from, 1);
            changes.emplace_back(u.until.value(), -1); // an end stands before a beginning
        }
        std::sort(changes.begin(), changes.end());
        int now = 0, most = 0;
        for (const auto& [when, change] : changes)
            most = std::max(most, now += change);
        return static_cast<std::size_t>(most);
    }

    // Whether a use of one role was at the same time as one of the other.
    bool beside(const std::string& role, const std::string& other) const
    {
        const auto first = uses([&](const use& u) { return u.role == role; });
        const auto second = uses([&](const use& u) { return u.role == other; });
        return std::any_of(first.begin(), first.end(), [&](const use& a) {
            return std::any_of(second.begin(), second.end(),
                [&](const use& b) { return a.from < *b.until && b.from < *a.until; });
        });
    }

private:
    const std::string recipe_;
    cluster nodes_{3};
    std::deque<member> members_;
};

BOOST_AUTO_TEST_SUITE(sharing)

BOOST_AUTO_TEST_CASE(processes_share_the_permits_of_a_semaphore)
{
    group all("semaphore");
    for (int i = 0; i < 4; ++i)
        all.add(brief_work);
    all.wait_for_uses(50, "permit", {});
    all.kill_a_holder("permit");
    all.end();
    BOOST_TEST(all.most_at_once("permit") == 2u);
}

BOOST_AUTO_TEST_CASE(processes_read_and_write)
{
    group all("read_write_lock");
    for (int i = 0; i < 4; ++i)
        all.add(brief_work);
    all.wait_for_uses(20, "writer", {});
    all.kill_a_holder("writer");
    all.end();
    BOOST_TEST(all.most_at_once("writer") == 1u);
    BOOST_TEST(all.most_at_once("reader") > 1u);
    BOOST_TEST(!all.beside("reader", "writer"));
}

BOOST_AUTO_TEST_CASE(processes_elect_a_leader)
{
    group all("election");
    for (int i = 0; i < 4; ++i)
        all.add(brief_work);
    all.wait_for_uses(20, "leader", {});
    all.kill_a_holder("leader");
    all.end();
    BOOST_TEST(all.most_at_once("leader") == 1u);
}

// Otherwise the cases above would prove nothing.
BOOST_AUTO_TEST_CASE(processes_without_a_lock_are_found_together)
{
    group all("none");
    for (int i = 0; i < 4; ++i)
        all.add(brief_work);
    all.wait_for_all();
    all.wait_for_uses(50, "writer", steady::now());
    all.end();
    BOOST_TEST(all.most_at_once("writer") > 1u);
    BOOST_TEST(all.beside("reader", "writer"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test

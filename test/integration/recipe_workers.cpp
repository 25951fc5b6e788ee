// Several processes that work under a recipe on real servers, one of which is killed inside.
#include "support/child_process.hpp"
#include "support/cluster.hpp"
#include "support/temporary_folder.hpp"

#include <algorithm>
#include <deque>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::test {
namespace {

class recipe_team {
public:
    void start(const std::string& recipe, const std::string& name)
    {
        std::vector<std::string> words{HOLDFAST_RECIPE_WORKER, recipe, name, folder_.path()};
        for (const auto& url : urls(nodes_.nodes))
            words.push_back(url);
        workers_.emplace_back(words);
    }

    child_process& last() { return workers_.back(); }

    struct line {
        std::string worker, what, rest, more;
    };

    std::vector<line> journal() const
    {
        std::vector<line> all;
        std::ifstream file(folder_.path() + "/journal");
        for (std::string text; std::getline(file, text) && !file.eof();) {
            line read;
            std::istringstream(text) >> read.worker >> read.what >> read.rest >> read.more;
            all.push_back(read);
        }
        return all;
    }

    std::size_t count(const std::string& worker, const std::string& what) const
    {
        const auto all = journal();
        return static_cast<std::size_t>(
            std::count_if(all.begin(), all.end(), [&](const line& each) {
                return (worker.empty() || each.worker == worker) && each.what == what;
            }));
    }

    void wait_until(const std::string& what, const std::function<bool()>& so) const
    {
        const auto deadline = steady::now() + hang_limit;
        while (!so()) {
            BOOST_REQUIRE_MESSAGE(steady::now() < deadline, "timed out waiting for " << what);
            std::this_thread::sleep_for(5ms);
        }
    }

    void end_all()
    {
        for (auto& each : workers_)
            each.ask_to_end();
        for (auto& each : workers_) {
            if (each.running())
                BOOST_TEST(each.read_line() == "done");
        }
    }

private:
    temporary_folder folder_{"recipes"};
    cluster nodes_{3};
    std::deque<child_process> workers_;
};

const std::vector<std::string> names{"one", "two", "three"};

// A fourth worker enters, stays, and is killed. The others go on when its leases have ended.
void kill_one_inside(const std::string& recipe)
{
    recipe_team team;
    for (const auto& name : names)
        team.start(recipe, name);
    for (const auto& name : names)
        team.wait_until("work of " + name, [&] { return team.count(name, "leave") >= 3; });

    team.start("keep-" + recipe, "keeper");
    team.wait_until("the keeper", [&] { return team.count("keeper", "enter") == 1; });
    team.last().kill();
    const auto before = team.count("", "leave");
    for (const auto& name : names) {
        const auto own = team.count(name, "leave");
        team.wait_until(
            "new work of " + name, [&] { return team.count(name, "leave") >= own + 3; });
    }
    BOOST_TEST(team.count("", "leave") > before);
    team.end_all();
    BOOST_TEST(team.count("", "overlap") == 0u);
    BOOST_TEST(team.count("keeper", "leave") == 0u);
}

BOOST_AUTO_TEST_SUITE(recipe_workers)

BOOST_AUTO_TEST_CASE(batches_of_processes_exclude_each_other)
{
    kill_one_inside("batch");
}

BOOST_AUTO_TEST_CASE(processes_that_take_several_resources_exclude_each_other)
{
    kill_one_inside("multi");
}

// Otherwise the cases above would prove nothing.
BOOST_AUTO_TEST_CASE(processes_without_a_lock_are_found_together)
{
    recipe_team team;
    for (const auto& name : names)
        team.start("none", name);
    for (const auto& name : names)
        team.wait_until("work of " + name, [&] { return team.count(name, "leave") > 0; });
    team.wait_until("an overlap", [&] { return team.count("", "overlap") > 0; });
    team.end_all();
}

// Each of four processes tries again and again to run a job that is due every two seconds. The
// process that ran it first is killed.
BOOST_AUTO_TEST_CASE(a_job_runs_once_a_period_although_its_process_is_killed)
{
    recipe_team team;
    team.start("once", "first");
    team.wait_until("the first run", [&] { return team.count("first", "ran") == 1; });
    team.last().kill();
    for (const auto& name : names)
        team.start("once", name);
    team.wait_until("four runs", [&] { return team.count("", "ran") >= 4; });
    team.end_all();
    std::vector<std::pair<long long, long long>> runs;
    for (const auto& line : team.journal())
        runs.emplace_back(std::stoll(line.rest), std::stoll(line.more));
    std::sort(runs.begin(), runs.end());
    for (std::size_t i = 1; i < runs.size(); ++i) {
        const auto apart = std::chrono::nanoseconds(runs[i].second - runs[i - 1].first);
        BOOST_TEST(apart / 1ms >= 1998, "again after " << apart / 1ms << " ms"); // Redis rounds
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test

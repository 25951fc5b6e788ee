// The text itself; its meaning is checked with a parser of its own, see test/metrics.
#include <holdfast/metrics.hpp>

#include <boost/test/unit_test.hpp>

#include <sstream>
#include <string>
#include <vector>

using namespace holdfast;
using namespace std::chrono_literals;

namespace {

// The lines that begin so, each with its line break.
std::string lines(const std::string& page, const std::string& start)
{
    std::istringstream in(page);
    std::string found;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with(start))
            found += line + "\n";
    }
    return found;
}

} // namespace

BOOST_AUTO_TEST_SUITE(metrics_for_prometheus)

BOOST_AUTO_TEST_CASE(counters_and_gauges)
{
    locker_stats s;
    s.acquired = 18'446'744'073'709'551'615u;
    s.held = 3;
    const std::string page = to_prometheus(s);
    BOOST_TEST(
        lines(page, "holdfast_acquired_total") == "holdfast_acquired_total 18446744073709551615\n");
    BOOST_TEST(lines(page, "# TYPE holdfast_acquired_total") ==
               "# TYPE holdfast_acquired_total counter\n");
    BOOST_TEST(lines(page, "holdfast_held") == "holdfast_held 3\n");
    BOOST_TEST(page.find("holdfast_node_") == page.npos); // no nodes, no samples, no description
    BOOST_TEST(page.ends_with("\n"));
    BOOST_TEST(page.find("\n\n") == page.npos);
}

BOOST_AUTO_TEST_CASE(histograms_are_cumulative)
{
    locker_stats s;
    s.hold_time.record(1500ns);
    s.hold_time.record(1500ns);
    s.hold_time.record(2s);
    s.hold_time.record(100h);
    const std::string page = to_prometheus(s, "a");
    const auto at_most = [&](const std::string& bound) {
        const std::string start =
            "holdfast_hold_seconds_bucket{locker=\"a\",le=\"" + bound + "\"} ";
        const std::string line = lines(page, start);
        return line.empty() ? std::string("none")
                            : line.substr(start.size(), line.size() - start.size() - 1);
    };
    BOOST_TEST(at_most("0.000001024") == "0");
    BOOST_TEST(at_most("0.000002048") == "2");
    BOOST_TEST(at_most("1.073741824") == "2");
    BOOST_TEST(at_most("2.147483648") == "3");
    BOOST_TEST(at_most("35184.372088832") == "3");
    BOOST_TEST(at_most("+Inf") == "4");
    BOOST_TEST(lines(page, "holdfast_hold_seconds_count") ==
               "holdfast_hold_seconds_count{locker=\"a\"} 4\n");
    BOOST_TEST(lines(page, "holdfast_hold_seconds_sum") ==
               "holdfast_hold_seconds_sum{locker=\"a\"} 360002.000003\n");
    BOOST_TEST(lines(page, "holdfast_quorum_seconds_sum") ==
               "holdfast_quorum_seconds_sum{locker=\"a\"} 0\n");
}

// The series of a node go on when another server plays it.
BOOST_AUTO_TEST_CASE(a_node_keeps_its_label)
{
    locker_stats s;
    s.nodes.resize(1);
    s.nodes[0].name = "mymaster";
    s.nodes[0].address = "mymaster at 10.0.0.1:6379";
    const auto before = to_prometheus(s);
    s.nodes[0].address = "mymaster at 10.0.0.2:6379";
    const auto after = to_prometheus(s);
    for (const std::string& page : {before, after})
        BOOST_TEST(lines(page, "holdfast_node_up") == "holdfast_node_up{node=\"mymaster\"} 0\n");
    BOOST_TEST(lines(before, "holdfast_node_info") ==
               "holdfast_node_info{node=\"mymaster\",address=\"mymaster at 10.0.0.1:6379\"} 1\n");
    BOOST_TEST(lines(after, "holdfast_node_info") ==
               "holdfast_node_info{node=\"mymaster\",address=\"mymaster at 10.0.0.2:6379\"} 1\n");
}

BOOST_AUTO_TEST_CASE(labels_are_escaped)
{
    locker_stats s;
    s.nodes.resize(1);
    s.nodes[0].address = "/run/\"r\"\\1\n";
    s.nodes[0].connected = true;
    BOOST_TEST(lines(to_prometheus(s), "holdfast_node_up") ==
               "holdfast_node_up{node=\"/run/\\\"r\\\"\\\\1\\n\"} 1\n");
}

// One byte that is not UTF-8 would make Prometheus refuse the whole page.
BOOST_AUTO_TEST_CASE(labels_are_utf8)
{
    const auto label = [](std::string_view address) {
        locker_stats s;
        s.nodes.resize(1);
        s.nodes[0].address = address;
        const std::string line = lines(to_prometheus(s), "holdfast_node_up");
        return line.substr(23, line.size() - 23 - 5);
    };
    const std::string instead = "\xef\xbf\xbd";
    BOOST_TEST(label("a\xff"
                     "b") == "a" + instead + "b");
    BOOST_TEST(label("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\x92") ==
               "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\x92");
    BOOST_TEST(label("\xe2\x82") == instead + instead);               // ends early
    BOOST_TEST(label("\xc0\xaf") == instead + instead);               // longer than needed
    BOOST_TEST(label("\xed\xa0\x80") == instead + instead + instead); // half of a pair
}

// A metric is described once, however many lockers there are.
BOOST_AUTO_TEST_CASE(several_lockers)
{
    std::vector<labelled_stats> all(2);
    all[0].locker = "a";
    all[1].locker = "b";
    all[1].stats.lost = 7;
    all[0].stats.nodes.resize(1);
    all[0].stats.nodes[0].address = "n";
    const std::string page = to_prometheus(all);
    BOOST_TEST(lines(page, "# TYPE holdfast_lost_total").size() ==
               std::string("# TYPE holdfast_lost_total counter\n").size());
    BOOST_TEST(lines(page, "holdfast_lost_total") ==
               "holdfast_lost_total{locker=\"a\"} 0\nholdfast_lost_total{locker=\"b\"} 7\n");
    BOOST_TEST(lines(page, "holdfast_node_up") == "holdfast_node_up{locker=\"a\",node=\"n\"} 0\n");
}

BOOST_AUTO_TEST_SUITE_END()

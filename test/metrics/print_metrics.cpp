// Prints a page of metrics, whose values check.py knows.
#include <holdfast/metrics.hpp>

#include <iostream>
#include <string_view>
#include <vector>

int main(int count, char** words)
{
    using namespace std::chrono_literals;
    holdfast::locker_stats s;
    s.acquired = 1;
    s.handed_over = 2;
    s.attempts = 3;
    s.contended = 4;
    s.unreachable = 5;
    s.renewals = 6;
    s.released = 7;
    s.lost = 8;
    s.held = 9;
    s.waiting = 10;
    s.asking = 11;
    s.asking_limit = 12;
    s.suspensions = 13;
    s.events_dropped = 14;
    s.resumed = 15;
    s.lingering = 16;
    s.queue_wait.record(1us);
    s.queue_wait.record(3ms);
    s.queue_wait.record(30h);
    s.quorum_time.record(2ms);
    s.hold_time.record(500ms);
    s.validity_left.record(9s);
    s.nodes.push_back({.address = "/a \"b\"\\c\nd at \"1\"",
        .name = "/a \"b\"\\c\nd",
        .connected = true,
        .last_error = {},
        .reason = {},
        .commands = 20,
        .timeouts = 21,
        .connects = 22,
        .errors = 23,
        .restarts = 24,
        .clock_jumps = 25,
        .latency = {}});
    s.nodes.back().latency.record(100us);
    s.nodes.emplace_back().address = "127.0.0.1:7001";

    if (count > 1 && std::string_view(words[1]) == "one") {
        std::cout << holdfast::to_prometheus(s);
        return 0;
    }
    std::vector<holdfast::labelled_stats> all(2);
    all[0] = {.locker = "or\"ders\\", .stats = s};
    all[1].locker = "stock";
    std::cout << holdfast::to_prometheus(all);
}

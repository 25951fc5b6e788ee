"""check.py PRINT_METRICS SOURCE_FOLDER: checks what PRINT_METRICS prints, with an independent
parser; that docs/metrics.md names the same metrics; and that the dashboard queries only these."""

import json
import re
import subprocess
import sys

from prometheus_client.parser import text_string_to_metric_families

program, root = sys.argv[1:3]
problems = []


def expect(condition, what):
    if not condition:
        problems.append(what)


def page(*arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True).stdout.decode("utf-8")


def parsed(text):
    """{family: (type, help)}, {(sample, labels): value}"""
    families, samples = {}, {}
    for family in text_string_to_metric_families(text):
        name = family.name + ("_total" if family.type == "counter" else "")
        expect(name not in families, f"{name} is described twice")
        expect(family.documentation, f"{name} has no description")
        families[name] = family.type
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            expect(key not in samples, f"{key} appears twice")
            samples[key] = sample.value
    return families, samples


def check_syntax(text):
    """What the parser lets pass: each line is a description or a sample; families are in one piece."""
    name = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
    label = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*"'
    sample = re.compile(rf"({name})(?:\{{{label}(?:,{label})*\}})? (?:\d+|\d+\.\d+)")
    expect(text.endswith("\n"), "the last line has no end")
    current = None
    for line in text[:-1].split("\n"):
        if described := re.fullmatch(rf"# (HELP|TYPE) ({name}) (.+)", line):
            if described[1] == "TYPE":
                expect(current == described[2], f"no HELP before: {line}")
            current = described[2]
            continue
        found = sample.fullmatch(line)
        expect(found, f"not a sample: {line}")
        if found:
            family = re.sub(r"_(bucket|sum|count)$", "", found[1])
            expect(current in (family, found[1]), f"outside of its family: {line}")


def check_histograms(samples):
    series = {}
    for (name, labels), value in samples.items():
        if name.endswith("_bucket"):
            others = tuple(l for l in labels if l[0] != "le")
            series.setdefault((name[: -len("_bucket")], others), []).append((float(dict(labels)["le"]), value))
    for (name, labels), buckets in series.items():
        bounds = [bound for bound, _ in buckets]
        counts = [count for _, count in buckets]
        expect(bounds == sorted(set(bounds)), f"{name}: bounds in disorder")
        expect(counts == sorted(counts), f"{name}: not cumulative")
        expect(bounds[-1] == float("inf"), f"{name}: no +Inf")
        expect(counts[-1] == samples[(name + "_count", labels)], f"{name}: +Inf is not the count")
        expect((name + "_sum", labels) in samples, f"{name}: no sum")
    return {name for name, _ in series}


def check_values(samples, locker):
    node = locker + (("node", '/a "b"\\c\nd'),)
    expected = {
        ("holdfast_acquired_total", locker): 1,
        ("holdfast_handed_over_total", locker): 2,
        ("holdfast_attempts_total", locker): 3,
        ("holdfast_contended_total", locker): 4,
        ("holdfast_unreachable_total", locker): 5,
        ("holdfast_renewals_total", locker): 6,
        ("holdfast_released_total", locker): 7,
        ("holdfast_lost_total", locker): 8,
        ("holdfast_held", locker): 9,
        ("holdfast_waiting", locker): 10,
        ("holdfast_asking", locker): 11,
        ("holdfast_asking_limit", locker): 12,
        ("holdfast_suspensions_total", locker): 13,
        ("holdfast_events_dropped_total", locker): 14,
        ("holdfast_resumed_total", locker): 15,
        ("holdfast_lingering", locker): 16,
        ("holdfast_queue_wait_seconds_count", locker): 3,
        ("holdfast_queue_wait_seconds_sum", locker): 108000.003001,
        ("holdfast_quorum_seconds_sum", locker): 0.002,
        ("holdfast_hold_seconds_sum", locker): 0.5,
        ("holdfast_validity_left_seconds_sum", locker): 9,
        ("holdfast_node_info", tuple(sorted(node + (("address", '/a "b"\\c\nd at "1"'),)))): 1,
        ("holdfast_node_up", node): 1,
        ("holdfast_node_commands_total", node): 20,
        ("holdfast_node_timeouts_total", node): 21,
        ("holdfast_node_connects_total", node): 22,
        ("holdfast_node_errors_total", node): 23,
        ("holdfast_node_restarts_total", node): 24,
        ("holdfast_node_clock_jumps_total", node): 25,
        ("holdfast_node_latency_seconds_sum", node): 0.0001,
        ("holdfast_node_up", locker + (("node", "127.0.0.1:7001"),)): 0,
    }
    for key, value in expected.items():
        expect(samples.get(key) == value, f"{key} is {samples.get(key)}, not {value}")
    for bound, count in (("0.000001024", 1), ("0.002097152", 1), ("0.004194304", 2), ("35184.372088832", 2), ("+Inf", 3)):
        key = ("holdfast_queue_wait_seconds_bucket", tuple(sorted(locker + (("le", bound),))))
        expect(samples.get(key) == count, f"{key} is {samples.get(key)}, not {count}")


def check_table(families, samples):
    """Each row of docs/metrics.md: | `name` | type | labels | meaning |"""
    labels_of = {}
    for name, labels in samples:
        family = name if name in families else re.sub(r"_(bucket|sum|count)$", "", name)
        labels_of.setdefault(family, set()).update(l for l, _ in labels if l != "le")
    documented = {}
    for line in open(f"{root}/docs/metrics.md", encoding="utf-8"):
        if row := re.fullmatch(r"\| `(holdfast_\w+)` \| (\w+) \| ([\w, ]+) \| .+ \|\n", line):
            documented[row[1]] = (row[2], set(row[3].split(", ")))
    for name in families.keys() | documented.keys():
        real = (families.get(name), labels_of.get(name))
        expect(documented.get(name) == real, f"docs/metrics.md: {name} is {documented.get(name)}, really {real}")


def check_dashboard(samples):
    names = {name for name, _ in samples}
    with open(f"{root}/docs/grafana/holdfast.json", encoding="utf-8") as file:
        dashboard = json.load(file)
    expect(dashboard["schemaVersion"] >= 36, "the dashboard is older than Grafana 9")
    panels = dashboard["panels"]
    ids = [panel["id"] for panel in panels]
    expect(len(set(ids)) == len(ids), "two panels have one id")
    taken = set()
    for panel in panels:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        expect(not cells & taken, f"{panel['title']}: lies on another panel")
        expect(at["x"] + at["w"] <= 24, f"{panel['title']}: is outside")
        taken |= cells
        expect(panel["targets"], f"{panel['title']}: queries nothing")
    queries = [target["expr"] for panel in panels for target in panel["targets"]]
    queries += [variable["definition"] for variable in dashboard["templating"]["list"] if variable["type"] == "query"]
    used = {name for query in queries for name in re.findall(r"holdfast_\w+", query)}
    for query in queries:
        expect(re.search(r"holdfast_\w+", query), f"no metric of holdfast: {query}")
        expect(query.count("(") == query.count(")"), f"brackets: {query}")
    for name in sorted(used - names):
        expect(False, f"the dashboard queries {name}, which does not exist")
    wanted = {"holdfast_acquired_total", "holdfast_queue_wait_seconds_bucket", "holdfast_held", "holdfast_waiting",
              "holdfast_lost_total", "holdfast_contended_total", "holdfast_unreachable_total", "holdfast_node_up",
              "holdfast_node_latency_seconds_bucket", "holdfast_node_timeouts_total"}
    for name in sorted(wanted - used):
        expect(False, f"the dashboard does not show {name}")


two = page()
families, samples = parsed(two)
check_syntax(two)
expect(len(check_histograms(samples)) == 5, "not all histograms were found")
check_values(samples, (("locker", 'or"ders\\'),))
expect(samples.get(("holdfast_held", (("locker", "stock"),))) == 0, "the second locker is missing")
check_table(families, samples)
check_dashboard(samples)

one = page("one")
check_syntax(one)
check_values(parsed(one)[1], ())

print("\n".join(problems) if problems else f"{len(families)} metrics, {len(samples)} samples: in order")
sys.exit(1 if problems else 0)

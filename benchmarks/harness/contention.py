"""Rows 7, 8 and 10: the figures of the program `contention`."""

import json
import subprocess
import tempfile
from pathlib import Path

from figures import Measure, Row, median, spread
from processes import die_with_us

# Row 8: numbers of processes, and the least ratio to one alone.
CONTESTS = {8: 1.2, 16: 1.2, 64: 1.0}
PROCESSES = ["--processes", *map(str, CONTESTS)]


def run_contention(plan, folder, *arguments):
    file = Path(folder) / "contention.json"
    command = [str(plan.build / "benchmarks" / "contention"), *arguments, "--repetitions=1",
               f"--length={plan.run_ms}", f"--json={file}"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=300, preexec_fn=die_with_us)
    if done.returncode != 0:
        errors = [line.strip() for line in done.stdout.splitlines() if "ERROR" in line]
        said = "; ".join(filter(None, [*errors, done.stderr.strip()]))
        raise RuntimeError(
            f"contention {' '.join(arguments)}: status {done.returncode}: {said[-500:]}")
    return json.loads(file.read_text())


def check_exclusion(plan, folder):
    """Each hold takes a while, so that two at once are seen: the program fails then."""
    run_contention(plan, folder, "local", "--hold=200", "--waiters=1000")
    for fenced in ([], ["--fenced"]):
        run_contention(plan, folder, "processes", "--hold=500", *fenced, *PROCESSES)


def run_once(plan, folder, repetition):
    order = ["--reverse"] if repetition % 2 else []
    run = run_contention(plan, folder, "local", f"--rounds={plan.local_rounds}", *order)
    run |= run_contention(plan, folder, "memory", "processes", *PROCESSES)
    run["fenced"] = run_contention(plan, folder, "processes", "--fenced", *PROCESSES)["processes"]
    return run


def row_7(runs):
    ours = [run["local"]["holdfast"] for run in runs]
    mutex = [run["local"]["channel, async_send"] for run in runs]
    larger = [run["local"]["holdfast, larger hand-off budget"] for run in runs]
    rate = "hand_offs_per_second"
    shortest = min(run["local"]["channel, try_send"]["seconds"] for run in runs)
    told = (f"{median([r[rate] for r in ours]):,.0f} and "
            f"{median([r[rate] for r in mutex]):,.0f} transfers/s; the shortest run of any way took "
            f"{shortest:.1f} s")

    def to_mutex(rows, name):
        return spread([row[name] for row in rows])

    return Row(7, "10,000 coroutines of one process wait for one resource", [
        Measure("transfers/s, ratio to a mutex made of a channel",
                to_mutex(ours, "ratio_to_channel_async_send"), ">=", 0.5, absolute=told),
        Measure("the same, with a mutex that unlocks by try_send instead of async_send",
                to_mutex(ours, "ratio_to_channel_try_send"), None, None),
        Measure("the first, with handoff_limit 1,000,000 and handoff_time 9 s",
                to_mutex(larger, "ratio_to_channel_async_send"), None, None,
                absolute=f"{median([r[rate] for r in larger]):,.0f} transfers/s"),
        Measure("turns taken before an earlier waiter",
                spread([row["overtakings"] for row in ours]), "<=", 0, every=True)])


def measures_of_contests(contests, number, bound, what):
    rows = [next(row for row in each["contests"] if row["processes"] == number)
            for each in contests]
    changes = median([row["changes_per_second"] for row in rows])
    sent = median([row["commands_sent_each"] for row in rows])
    unequal = [max(1 - row["smallest_share"], row["largest_share"] - 1) for row in rows]
    return [
        Measure(f"{what}: changes of owner, ratio to holds of a process alone",
                spread([row["ratio_to_alone"] for row in rows]), ">=", bound,
                absolute=f"{changes:,.0f} changes/s"),
        Measure(f"{what}: node commands per change, including those in scripts",
                spread([row["commands_executed_each"] for row in rows]), "<=", 12,
                absolute=f"{sent:.1f} requests sent"),
        Measure(f"{what}: largest deviation from an equal share",
                spread([100 * value for value in unequal]), "<=", 20, "%")]


def row_8(runs):
    measures = []
    for number, bound in CONTESTS.items():
        measures += measures_of_contests([run["processes"] for run in runs], number, bound,
                                         f"{number} processes")
    for number, bound in CONTESTS.items():
        measures += measures_of_contests([run["fenced"] for run in runs], number, bound,
                                         f"{number} processes with fencing tokens")
    return Row(8, "processes contend for one resource", measures)


def row_10(runs):
    def bytes_of(name):
        return [run["memory"][name]["allocated"] for run in runs]

    idle = [used - fresh for used, fresh in zip(
        bytes_of("the same, acquired and released once"), bytes_of("lock, of one resource each"))]
    return Row(10, "memory of waiting coroutines and of idle locks", [
        Measure("added by the library to a waiting coroutine, compared with a wait for a channel",
                spread(bytes_of("added by the library, compared with a channel")), "<=", 512,
                "bytes", "total with the coroutine: "
                f"{median(bytes_of('coroutine that waits in acquire')):,.0f} bytes"),
        Measure("kept in the locker for a resource that was acquired and released", spread(idle),
                "<=", 0, "bytes", "the lock object and its options: "
                f"{median(bytes_of('lock, of one resource each')):,.0f} bytes")])


def rows(plan):
    with tempfile.TemporaryDirectory() as folder:
        check_exclusion(plan, folder)
        runs = [run_once(plan, folder, repetition) for repetition in range(plan.contests)]
    return [row_7(runs), row_8(runs), row_10(runs)]

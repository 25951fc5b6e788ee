"""Rows 15 and 18: locks in etcd, beside the clients of etcd's own, on the same server."""

import shutil
import subprocess
import sys
import time

from figures import Measure, Row, median, ratios, spread
from programs import PEERS, Client, Nodes, Running, holdfast, interleaved, run_json

PROCESSES = 8
LEAD = 2  # seconds in which all processes of a contest start


def go_mutex(build):
    program = build / "benchmarks" / "etcd_mutex"
    return [str(program)] if program.exists() else None


def version():
    said = subprocess.run(["etcd", "--version"], stdout=subprocess.PIPE, text=True, check=True)
    return said.stdout.split("\n")[0].removeprefix("etcd Version: ")


def take_turns(command, urls, milliseconds, processes):
    """Processes that want one resource again and again. Returns changes of owner and holds per
    second, and the smallest and the largest share of a process, where 1 is an equal share."""
    begin_ms = int((time.time() + LEAD) * 1000)
    options = {"begin": begin_ms, "length": milliseconds,
               "resource": f"bench:turns:{begin_ms}"}
    clients = [Running(command, urls, options) for _ in range(processes)]
    holds = sorted((begin, end, number) for number, client in enumerate(clients)
                   for begin, end in client.result()["holds"])
    if any(later[0] < earlier[1] for earlier, later in zip(holds, holds[1:])):
        raise RuntimeError(f"{command[0]}: two processes had the lock at once")
    last = (begin_ms + milliseconds) * 1_000_000
    owners = [number for begin, _, number in holds if begin < last]
    if not owners:
        raise RuntimeError(f"{command[0]}: nobody had the lock")
    shares = [owners.count(number) * processes / len(owners) for number in range(processes)]
    changes = sum(a != b for a, b in zip(owners, owners[1:]))
    return {"changes": changes * 1000 / milliseconds, "holds": len(owners) * 1000 / milliseconds,
            "least": min(shares), "most": max(shares)}


def of(results, name, figure):
    return [result[figure] for result in results[name]]


def compared(what, results, names, figure, unit, relation=None, bound=None):
    """The ratio of the first of two programs to the second."""
    absolute = " and ".join(f"{median(of(results, name, figure)):,.{0 if unit != 'us' else 1}f}"
                            for name in names)
    return Measure(what, ratios(*(of(results, name, figure) for name in names)), relation, bound,
                   absolute=f"{absolute} {unit}")


def race(plan, urls, clients, concurrency):
    latency = {"latency": True} if concurrency == 1 else {}
    return interleaved({
        name: lambda client=client: client.run(urls, concurrency, plan.run_ms, **latency)
        for name, client in clients.items()}, plan.repetitions)


def beside_go(plan, urls, go):
    clients = {"holdfast": holdfast(plan.build), "go": Client("Go", go, "")}
    names = tuple(clients)
    several, one = (race(plan, urls, clients, concurrency) for concurrency in (256, 1))
    return [
        compared("256 in flight, distinct resources: locks/s, ratio to Go's concurrency.Mutex",
                 several, names, "rate", "locks/s", ">=", 1),
        compared("the same: CPU of the client, ratio to Go's", several, names, "cpu_us", "us"),
        compared("one in flight: median latency, ratio to Go's", one, names, "cycle_us_p50", "us")]


def contests(plan, urls, go):
    milliseconds = 3 * plan.run_ms
    commands = {"holdfast": [str(plan.build / "benchmarks" / "turn_client")],
                "etcdctl": [sys.executable, str(PEERS / "etcdctl_lock.py")]}
    if go:
        commands["go"] = go + ["--turns"]
    runs = {(name, processes):
            lambda command=command, processes=processes: take_turns(
                command, urls, milliseconds, processes)
            for name, command in commands.items() for processes in (1, PROCESSES)}
    results = interleaved(runs, plan.contests)
    ours, alone = ("holdfast", PROCESSES), ("holdfast", 1)
    many = f"{PROCESSES} processes contend for one resource"
    measures = []
    if go:
        measures.append(compared(
            f"{many}: changes of owner, ratio to Go's concurrency.Mutex", results,
            (ours, ("go", PROCESSES)), "changes", "changes/s", ">=", 10))
    return measures + [
        compared(f"{many}: changes of owner, ratio to `etcdctl lock` in loops, of which each lock "
                 "is a process", results, (ours, ("etcdctl", PROCESSES)), "changes", "changes/s"),
        compared("one process, one at a time: locks/s, ratio to `etcdctl lock` in a loop",
                 results, (alone, ("etcdctl", 1)), "holds", "locks/s"),
        Measure("changes of owner, ratio to the holds of a process alone",
                ratios(of(results, ours, "changes"), of(results, alone, "holds")), None, None),
        Measure("largest deviation from an equal share",
                spread([100 * max(1 - least, most - 1) for least, most in zip(
                    of(results, ours, "least"), of(results, ours, "most"))]), None, None, "%")]


def row_15(plan):
    go = go_mutex(plan.build)
    with Nodes(plan.build, "--count=1", "--etcd=1") as nodes:
        measures = beside_go(plan, nodes.etcd, go) if go else []
        measures += contests(plan, nodes.etcd, go)
    return Row(15, f"etcd {version()}, one member, which writes to its disk", measures)


def row_18(plan):
    with Nodes(plan.build, "--count=1", "--etcd=1") as nodes:
        results = [run_json([str(plan.build / "benchmarks" / "lease_holder")], nodes.etcd,
                            {"leases": 100_000, "ttl": 30_000, "length": plan.hold_ms})
                   for _ in range(plan.holds)]
    return Row(18, f"100,000 leases held at ttl 30 s in etcd {version()}", [
        Measure("CPU, of one core", spread([100 * result["cores"] for result in results]), "<=", 1,
                "%"),
        Measure("leases lost", spread([max(result["lost"], result["not_held"])
                                       for result in results]), "<=", 0)])


ROWS = {15: row_15, 18: row_18}


def why_not(build):
    """Why these rows cannot be measured, or None."""
    if not shutil.which("etcd") or not shutil.which("etcdctl"):
        return "rows 15 and 18: etcd is not installed"
    if not (build / "benchmarks" / "turn_client").exists():
        return "rows 15 and 18: built without etcd"
    return None


def why_no_go(build):
    """Why Go's client cannot be measured, or None."""
    return None if go_mutex(build) else "Go's concurrency.Mutex: Go or etcd's client is not installed"

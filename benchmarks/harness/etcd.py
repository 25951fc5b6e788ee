"""Rows 15 and 18: locks in etcd, beside the clients of etcd's own, on the same server."""

import shutil
import subprocess
import sys

from figures import Row
from leases import held
from machine import keeps_data
from processes import Nodes
from programs import PEERS, Client, holdfast, interleaved
from stores import (PROCESSES, alone_and_shares, check_exclusion, compared, race, take_turns,
                    why_not_started)


def go_mutex(build):
    program = build / "benchmarks" / "etcd_mutex"
    return [str(program)] if program.exists() else None


def version():
    said = subprocess.run(["etcd", "--version"], stdout=subprocess.PIPE, text=True, check=True)
    return said.stdout.split("\n")[0].removeprefix("etcd Version: ")


def beside_go(plan, urls, go):
    clients = {"holdfast": holdfast(plan.build), "go": Client("Go", go, "")}
    names = tuple(clients)
    several, one = (race(plan, urls, clients, n, plan.peer_ms) for n in (256, 1))
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
    check_exclusion(urls, [(command, PROCESSES) for command in commands.values()])
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
        *alone_and_shares(results, ours, alone)]


def row_15(plan):
    go = go_mutex(plan.build)
    with Nodes(plan.build, "--count=1", "--etcd=1") as nodes:
        measures = beside_go(plan, nodes.etcd, go) if go else []
        measures += contests(plan, nodes.etcd, go)
    return Row(15, f"etcd {version()}, one member, which {keeps_data()}", measures)


def row_18(plan):
    with Nodes(plan.build, "--count=1", "--etcd=1") as nodes:
        return held(plan, f"etcd {version()}", nodes.etcd)


ROWS = {15: row_15, 18: row_18}


def why_not(build):
    """Why these rows cannot be measured, or None."""
    if not shutil.which("etcd") or not shutil.which("etcdctl"):
        return "rows 15 and 18: etcd is not installed"
    return why_not_started(build, "etcd", "--etcd=1", "rows 15 and 18", "etcd")


def why_no_go(build):
    """Why Go's client cannot be measured, or None."""
    if go_mutex(build):
        return None
    return "Go's concurrency.Mutex: Go or etcd's client is not installed"

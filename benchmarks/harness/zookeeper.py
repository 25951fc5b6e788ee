"""Rows 17 and 18: locks in ZooKeeper, beside kazoo and Curator on the same server."""

import subprocess
import sys
from pathlib import Path

from figures import Row
from leases import held
from machine import keeps_data
from processes import Nodes
from programs import PEERS, Client, holdfast, interleaved
from stores import (PROCESSES, alone_and_shares, check_exclusion, compared, race, take_turns,
                    why_not_started)

WARM_UP_MS = 3000  # all threads run by then, and the virtual machine has compiled
JARS = Path("/usr/share/java")
START = {"kazoo": 5, "curator": 20}  # seconds in which its interpreters or its machine are ready


def jar_version(name):
    """That of one of Debian's packages, such as 3.8.0; it names its file."""
    for path in JARS.glob(f"{name}-[0-9]*.jar"):
        return path.stem.removeprefix(f"{name}-")
    return ""


def version():
    return jar_version("zookeeper")


def kazoo():
    """How to run kazoo's Lock, and what it is called; or None. Debian's package belongs to Debian's
    interpreter, which may not be the first in the PATH."""
    for python in ("/usr/bin/python3", sys.executable):
        found = subprocess.run([python, "-c", "import kazoo; print(kazoo.__version__)"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if found.returncode == 0:
            return [python, str(PEERS / "kazoo_lock.py")], f"kazoo {found.stdout.strip()} Lock"
    return None


def curator(build):
    """The same for Curator's InterProcessMutex, which the build has compiled if it is there."""
    described = build / "benchmarks" / "curator" / "class_path"
    if not described.exists():
        return None
    return (["java", "-Xmx512m", "-cp", described.read_text().strip(), "CuratorLock"],
            f"Curator {jar_version('curator-recipes')} InterProcessMutex")


def peers(build):
    return {name: found for name, found in (("kazoo", kazoo()), ("curator", curator(build)))
            if found}


def pairs(plan, urls, others):
    clients = {"holdfast": holdfast(plan.build),
               **{name: Client(title, command, "") for name, (command, title) in others.items()}}
    several, one = (race(plan, urls, clients, n, plan.store_ms, WARM_UP_MS) for n in (256, 1))
    measures = []
    for name, (_, title) in others.items():
        names = ("holdfast", name)
        measures += [
            compared(f"256 in flight, distinct resources: locks/s, ratio to {title}", several,
                     names, "rate", "locks/s", ">=", 1.5),
            compared("the same: CPU of the client, ratio to it", several, names, "cpu_us", "us"),
            compared("one in flight: locks/s, ratio to it", one, names, "rate", "locks/s", ">=",
                     1.5),
            compared("one in flight: median latency, ratio to it", one, names, "cycle_us_p50",
                     "us")]
    return measures


def contests(plan, urls, others):
    milliseconds = 3 * plan.run_ms
    ours = [str(plan.build / "benchmarks" / "turn_client")]
    runs = {("holdfast", processes):
            lambda processes=processes: take_turns(ours, urls, milliseconds, processes)
            for processes in (1, PROCESSES)}
    checks = [(ours, PROCESSES)]
    for name, (command, _) in others.items():
        # Curator has its sessions in one process: eight virtual machines would share two cores.
        words, processes = command + ["--turns"], PROCESSES
        if name == "curator":
            words, processes = words + [f"--sessions={PROCESSES}"], 1
        more = (processes, PROCESSES // processes, START[name])
        checks.append((words, *more))
        runs[name, PROCESSES] = lambda words=words, more=more: take_turns(
            words, urls, milliseconds, *more)
    check_exclusion(urls, checks)
    results = interleaved(runs, plan.contests)
    many = f"{PROCESSES} processes contend for one resource"
    return [
        *(compared(f"{many}: changes of owner, ratio to {title}", results,
                   (("holdfast", PROCESSES), (name, PROCESSES)), "changes", "changes/s", ">=", 1.5)
          for name, (_, title) in others.items()),
        *alone_and_shares(results, ("holdfast", PROCESSES), ("holdfast", 1))]


def row_17(plan):
    others = peers(plan.build)
    with Nodes(plan.build, "--count=1", "--zookeeper=1") as nodes:
        urls = nodes.zookeeper
        return Row(17, f"ZooKeeper {version()}, one server, which {keeps_data()}",
                   pairs(plan, urls, others) + contests(plan, urls, others))


def row_18(plan):
    with Nodes(plan.build, "--count=1", "--zookeeper=1") as nodes:
        return held(plan, f"ZooKeeper {version()}", nodes.zookeeper)


ROWS = {17: row_17, 18: row_18}


def why_not(build):
    """Why these rows cannot be measured, or None."""
    return why_not_started(build, "zookeeper", "--zookeeper=1", "rows 17 and 18 of ZooKeeper",
                           "ZooKeeper")


def missing_peers(build):
    """Which clients of others cannot be measured, or None."""
    found = peers(build)
    missing = [title for name, title in (("kazoo", "kazoo's Lock"),
                                         ("curator", "Curator's InterProcessMutex"))
               if name not in found]
    return f"{' and '.join(missing)}: not installed" if missing else None

"""The programs that are measured."""

import collections
import json
import os
import subprocess
import sys
from pathlib import Path

from processes import Nodes, run_json

PEERS = Path(__file__).resolve().parent.parent / "peers"

repeated = collections.Counter()  # runs without a single lock, by the name of the client


class Client:
    """A client that acquires and releases: holdfast, the wire limit, or another library."""

    most = float("inf")  # locks in flight
    only_several = False  # it is not measured with one lock in flight

    def __init__(self, name, command, settings, several=(), one=(), nodes=None, environment=None):
        self.name, self.command, self.settings = name, command, settings
        self.several, self.one = list(several), list(one)  # options for several and one in flight
        self.nodes = nodes  # the number of nodes that it supports; None: any
        self.environment = environment

    def run(self, urls, concurrency, milliseconds, warm_up=None, **options):
        """`warm_up` in milliseconds; None: the program's own."""
        extra = self.one if concurrency == 1 else self.several
        if warm_up is not None:
            options["warm-up"] = warm_up
        for _ in range(3):  # again if the machine stalled
            figures = run_json(self.command + extra, urls[:self.nodes],
                               {"concurrency": concurrency, "length": milliseconds, **options},
                               self.environment)
            if figures["locks"] > 0:
                break
            repeated[self.name] += 1
            print(f"{self.name}: no lock in {milliseconds} ms, {concurrency} in flight; again",
                  file=sys.stderr, flush=True)
        else:
            raise RuntimeError(f"{self.name}: no lock in {milliseconds} ms, three times")
        figures["rate"] = figures["locks"] / figures["seconds"]
        figures["cpu_us"] = figures["cpu_seconds"] * 1e6 / figures["locks"]
        return figures


def holdfast(build, nodes=None):
    name = "holdfast" if nodes is None else f"holdfast, {nodes} node"
    return Client(name, [str(build / "benchmarks" / "lock_client")],
                  "default options, one thread", nodes=nodes)


def wire_limit(build):
    return Client("wire limit", [str(build / "benchmarks" / "lock_client"), "--client=wire_limit"],
                  "encoded beforehand, completes at a majority, one thread")


def node_redlock(modules):
    if modules is None or not (modules / "redlock").is_dir():
        return None, "node-redlock: its packages could not be installed"
    version = subprocess.run(["node", "--version"], stdout=subprocess.PIPE, text=True).stdout
    packages = {name: json.loads((modules / name / "package.json").read_text())["version"]
                for name in ("redlock", "ioredis")}
    return Client(
        "node-redlock", ["node", str(PEERS / "node_redlock.cjs")],
        f"redlock {packages['redlock'].lstrip('v')} on ioredis {packages['ioredis']}, "
        f"node {version.strip().lstrip('v')}; enableAutoPipelining if several are in flight",
        several=["--pipelining"], environment={**os.environ, "NODE_PATH": str(modules)}), None


def redis_py():
    # Debian's package belongs to Debian's interpreter, which may not be the first in the PATH.
    look = "import redis; print(redis.__version__)"
    parser = "import hiredis; print(hiredis.__version__)"
    for python in ("/usr/bin/python3", sys.executable):
        found = subprocess.run([python, "-c", look], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
        if found.returncode == 0:
            fast = subprocess.run([python, "-c", parser], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
            with_parser = f"hiredis {fast.stdout.strip()}" if fast.returncode == 0 else "no hiredis"
            return Client(
                "redis-py Lock, 1 node", [python, str(PEERS / "redis_py_lock.py")],
                f"redis-py {found.stdout.strip()}, {with_parser}; one in flight: blocking client; "
                "several: redis.asyncio, a task per lock", several=["--tasks"], nodes=1), None
    return None, "redis-py: not installed"


def sequential_redlock(build):
    program = build / "benchmarks" / "sequential_redlock"
    if not program.exists():
        return None, "sequential Redlock on hiredis: the build did not find hiredis"
    return Client(
        "sequential Redlock", [str(program)],
        "textbook Redlock on hiredis: nodes in turn, blocking, a thread per lock in flight"), None


def why_unusable(client, urls):
    """Tries the client briefly. Returns None, or why it does not work."""
    try:
        for concurrency in (1, 16):
            client.run(urls, concurrency, 300, latency=True)
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        return f"{client.name}: {error}"
    return None


def peers(build, modules):
    """Returns the installed libraries that work, and why others are left out."""
    found, left_out = [], []
    with Nodes(build) as nodes:
        for client, why in (node_redlock(modules), redis_py(), sequential_redlock(build)):
            why = why or why_unusable(client, nodes.servers)
            if why is None:
                client.most = 1024  # more threads or connections do not help them
                found.append(client)
            else:
                left_out.append(why)
    return found, left_out


def interleaved(runs, repetitions):
    """Runs each of `runs` (name -> callable) this many times, in turn, every second time in reverse
    order.

    Returns name -> list of results."""
    results = {name: [] for name in runs}
    for repetition in range(repetitions):
        names = list(runs)
        for name in names if repetition % 2 == 0 else reversed(names):
            results[name].append(runs[name]())
    return results

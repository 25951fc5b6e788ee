"""The programs that are measured, and the nodes that they use."""

import ctypes
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

PEERS = Path(__file__).resolve().parent.parent / "peers"


LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


def die_with_us():
    """In a child: lets the kernel end it together with the harness."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Nodes:
    """Temporary servers, up within a `with` block. They also end with this process."""

    def __init__(self, build, *options):
        self.command = [str(build / "benchmarks" / "nodes"), *options]

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("cannot start the nodes")
        addresses = json.loads(line)
        self.servers, self.pids = addresses["servers"], addresses["pids"]
        self.machine = addresses["machine"]
        self.slow, self.prompt = addresses["slow"], addresses["prompt"]
        self.refused = addresses["refused"]
        self.black_holes = addresses["black_holes"]
        self.etcd, self.zookeeper = addresses["etcd"], [addresses["zookeeper"]]
        self.postgresql, self.mysql = [addresses["postgresql"]], [addresses["mysql"]]
        self.tls, self.ca_file = addresses["tls"], addresses["ca_file"]
        return self

    def __exit__(self, *error):
        self.process.stdin.close()
        self.process.wait()


class Running:
    """A running program that prints a line of JSON."""

    def __init__(self, command, urls, options, environment=None):
        words = [*command, *[f"--node={url}" for url in urls]]
        for name, value in options.items():
            words += [f"--{name}"] if value is True else [f"--{name}={value}"]
        self.name = command[0]
        self.process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=environment, preexec_fn=die_with_us)

    def result(self, limit=180):
        """Waits until the program ends, at most `limit` seconds, and returns its figures."""
        try:
            said, error = self.process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        if self.process.returncode != 0:
            raise RuntimeError(f"{self.name}: {error.strip()[-500:]}")
        return json.loads(said)


def run_json(command, urls, options, environment=None):
    return Running(command, urls, options, environment).result()


class Client:
    """A client that acquires and releases: holdfast, the wire limit, or another library."""

    most = float("inf")  # locks in flight

    def __init__(self, name, command, settings, several=(), one=(), nodes=None, environment=None):
        self.name, self.command, self.settings = name, command, settings
        self.several, self.one = list(several), list(one)  # options for several and one in flight
        self.nodes = nodes  # the number of nodes that it supports; None: any
        self.environment = environment

    def run(self, urls, concurrency, milliseconds, **options):
        extra = self.one if concurrency == 1 else self.several
        for _ in range(3):  # again if the machine stalled
            figures = run_json(self.command + extra, urls[:self.nodes],
                               {"concurrency": concurrency, "length": milliseconds, **options},
                               self.environment)
            if figures["locks"] > 0:
                break
        else:
            raise RuntimeError(f"no lock in {milliseconds} ms, three times")
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
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
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

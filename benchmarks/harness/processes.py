"""The processes that the harness starts: servers, and programs that are measured. They end with
it."""

import ctypes
import json
import signal
import subprocess
import tempfile
import time

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
END_LIMIT = 30  # seconds in which a process ends when it is asked to
LEAD = 1        # seconds in which all processes that begin together are connected


def die_with_us():
    """In a child: lets the kernel end it together with the harness."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def wait_or_kill(process):
    try:
        process.wait(END_LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Nodes:
    """Temporary servers, up within a `with` block. They also end with this process."""

    def __init__(self, build, *options):
        self.command = [str(build / "benchmarks" / "nodes"), *options]

    def __enter__(self):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True)
        line = self.process.stdout.readline()
        if not line:
            self.stop()
            self.errors.seek(0)
            said = self.errors.read().decode(errors="replace").strip()[-500:]
            raise RuntimeError(f"cannot start the nodes: {said}")
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
        self.stop()
        self.errors.close()

    def stop(self):
        self.process.stdin.close()
        wait_or_kill(self.process)


class Running:
    """A running program that prints a line of JSON."""

    def __init__(self, command, urls, options, environment=None):
        words = [*command, *[f"--node={url}" for url in urls]]
        for name, value in options.items():
            words += [f"--{name}"] if value is True else [f"--{name}={value}"]
        self.name = " ".join(command)
        self.process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=environment, preexec_fn=die_with_us)

    def result(self, limit=180):
        """Waits until the program ends, at most `limit` seconds, and returns its figures."""
        try:
            said, error = self.process.communicate(timeout=limit)
        finally:
            self.end()
        if self.process.returncode != 0:
            raise RuntimeError(
                f"{self.name}: status {self.process.returncode}: {error.strip()[-500:]}")
        return json.loads(said)

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            wait_or_kill(self.process)


def results_of(running):
    """The figures of programs that run at once. If one fails, the others end."""
    try:
        return [one.result() for one in running]
    finally:
        for one in running:
            one.end()


def run_json(command, urls, options, environment=None):
    return Running(command, urls, options, environment).result()


def run_together(command, urls, options, processes):
    """The figures of so many processes that begin, and end, at the same instants."""
    if processes > 1:
        options = {**options, "begin": int((time.time() + LEAD) * 1000)}
    return results_of([Running(command, urls, options) for _ in range(processes)])

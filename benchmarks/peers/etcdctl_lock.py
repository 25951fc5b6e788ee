"""`etcdctl lock` in a loop: takes turns on one resource with other processes, and prints when each
hold began and ended as one line of JSON, like turn_client.

Each lock is a process, which connects, makes a lease, and starts another process under the lock:
that is how the command is used.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time


def end(number, frame):
    sys.exit(128 + number)  # subprocess.run() ends its process then


def main():
    signal.signal(signal.SIGTERM, end)
    parser = argparse.ArgumentParser()
    parser.add_argument("--node", required=True)
    parser.add_argument("--resource", default="bench:turns")
    parser.add_argument("--begin", type=int, required=True)
    parser.add_argument("--length", type=int, default=1000)
    parser.add_argument("--hold", type=int, default=0)  # microseconds, at least
    arguments = parser.parse_args()
    work = ["date", "+%s%N"]
    if arguments.hold:
        work = ["sh", "-c", f"date +%s%N; sleep {arguments.hold / 1e6:.6f}; date +%s%N"]
    command = ["etcdctl", f"--endpoints={arguments.node}", "lock", arguments.resource, "--",
               *work]
    environment = {**os.environ, "ETCDCTL_API": "3"}
    begin = arguments.begin / 1000
    if time.time() > begin:
        sys.exit("etcdctl_lock: was started only after --begin")
    time.sleep(max(0, begin - time.time()))
    holds = []
    while time.time() < begin + arguments.length / 1000:
        said = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              env=environment, timeout=60, check=True).stdout
        instants = [int(word) for word in said.split()]
        holds.append([instants[0], instants[-1]])
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps({"cpu_seconds": used.ru_utime + used.ru_stime, "holds": holds}))


if __name__ == "__main__":
    sys.exit(main())

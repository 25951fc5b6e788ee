"""`etcdctl lock` in a loop: takes turns on one resource with other processes, and prints when each
hold began and ended as one line of JSON, like turn_client.

Each lock is a process, which connects, makes a lease, and starts another process under the lock:
that is how the command is used.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--node", required=True)
    parser.add_argument("--resource", default="bench:turns")
    parser.add_argument("--begin", type=int, required=True)
    parser.add_argument("--length", type=int, default=1000)
    arguments = parser.parse_args()
    command = ["etcdctl", f"--endpoints={arguments.node}", "lock", arguments.resource,
               "date", "+%s%N"]
    environment = {**os.environ, "ETCDCTL_API": "3"}
    begin = arguments.begin / 1000
    if time.time() > begin:
        sys.exit("etcdctl_lock: was started only after --begin")
    time.sleep(max(0, begin - time.time()))
    holds = []
    while time.time() < begin + arguments.length / 1000:
        said = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              env=environment, timeout=60, check=True).stdout
        instant = int(said)
        holds.append([instant, instant])
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps({"cpu_seconds": used.ru_utime + used.ru_stime, "holds": holds}))


if __name__ == "__main__":
    sys.exit(main())

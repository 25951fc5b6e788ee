"""kazoo's Lock: acquires and releases distinct resources with a given number in flight, like
lock_client; or with --turns takes turns on one resource with other processes, like turn_client.
Prints the figures as one line of JSON.

Settings: one client and one session; a thread for each lock in flight.
"""

import json
import os
import sys
import threading
import time

from kazoo.client import KazooClient

from meter import Meter, load_parser


def work(client, meter, name):
    lock = client.Lock(f"/bench/{name}")
    while not meter.stopping:
        asked = time.perf_counter()
        lock.acquire()
        acquired = time.perf_counter()
        lock.release()
        meter.count(asked, acquired)


def run_load(client, arguments):
    meter = Meter(arguments)
    threads = [threading.Thread(target=work, args=(client, meter, f"kazoo:{i}"))
               for i in range(arguments.concurrency)]
    for thread in threads:
        thread.start()
    meter.measure()
    for thread in threads:
        thread.join()
    return meter.figures()


def take_turns(client, arguments):
    with client.Lock(f"/bench/{arguments.resource}:{os.getpid()}"):
        pass
    begin = arguments.begin / 1000
    if time.time() > begin:
        sys.exit("kazoo_lock: was connected only after --begin")
    time.sleep(max(0, begin - time.time()))
    cpu, holds = time.process_time(), []
    lock = client.Lock(f"/bench/{arguments.resource}")
    while time.time() < begin + arguments.length / 1000:
        with lock:
            start = time.time_ns()
            if arguments.hold:
                time.sleep(arguments.hold / 1e6)
            holds.append([start, time.time_ns()])
    return {"cpu_seconds": time.process_time() - cpu, "holds": holds}


def main():
    parser = load_parser()
    parser.add_argument("--turns", action="store_true")
    parser.add_argument("--resource", default="bench:turns")
    parser.add_argument("--begin", type=int, default=0)
    parser.add_argument("--hold", type=int, default=0)  # microseconds, with --turns
    arguments = parser.parse_args()
    client = KazooClient(hosts=arguments.node.split("/")[2])
    client.start()
    run = take_turns if arguments.turns else run_load
    print(json.dumps(run(client, arguments)))
    client.stop()


if __name__ == "__main__":
    main()

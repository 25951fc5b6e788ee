"""redis-py's Lock on one node: acquires and releases distinct resources with a given number in
flight, and prints the figures as one line of JSON, like lock_client.

Settings: with --tasks `redis.asyncio` with a task per lock in flight, otherwise the blocking client
with a thread per lock; a connection per lock in flight; the parser of hiredis if it is installed;
`thread_local=False`.
"""

import argparse
import asyncio
import json
import sys
import threading
import time

import redis
import redis.asyncio


class Meter:
    def __init__(self, arguments):
        self.latency = arguments.latency
        self.warm_up = arguments.warm_up / 1000
        self.length = arguments.length / 1000
        self.counting = self.stopping = False
        self.locks = 0
        self.acquire_us, self.cycle_us = [], []

    def count(self, asked, acquired):
        if not self.counting:
            return
        self.locks += 1
        if self.latency:
            self.acquire_us.append((acquired - asked) * 1e6)
            self.cycle_us.append((time.perf_counter() - asked) * 1e6)

    def begin(self):
        self.counting = True
        self.began, self.cpu_began = time.perf_counter(), time.process_time()

    def end(self):
        self.counting = False
        self.stopping = True
        self.seconds = time.perf_counter() - self.began
        self.cpu_seconds = time.process_time() - self.cpu_began

    def figures(self):
        all_figures = {"locks": self.locks, "seconds": self.seconds,
                       "cpu_seconds": self.cpu_seconds}
        for name in ("acquire_us", "cycle_us"):
            values = sorted(getattr(self, name))
            for suffix, part in (("p50", 0.5), ("p99", 0.99), ("max", 1)):
                if values:
                    all_figures[f"{name}_{suffix}"] = values[int(part * (len(values) - 1))]
        return all_figures


def work_in_thread(client, meter, name):
    lock = client.lock(name, timeout=10, thread_local=False)
    while not meter.stopping:
        asked = time.perf_counter()
        lock.acquire()
        acquired = time.perf_counter()
        lock.release()
        meter.count(asked, acquired)


def run_threads(arguments, meter):
    client = redis.Redis.from_url(arguments.node, max_connections=arguments.concurrency + 1)
    threads = [threading.Thread(target=work_in_thread, args=(client, meter, f"bench:{i}"))
               for i in range(arguments.concurrency)]
    for thread in threads:
        thread.start()
    time.sleep(meter.warm_up)
    meter.begin()
    time.sleep(meter.length)
    meter.end()
    for thread in threads:
        thread.join()


async def work_in_task(client, meter, name):
    lock = client.lock(name, timeout=10, thread_local=False)
    while not meter.stopping:
        asked = time.perf_counter()
        await lock.acquire()
        acquired = time.perf_counter()
        await lock.release()
        meter.count(asked, acquired)


async def run_tasks(arguments, meter):
    client = redis.asyncio.Redis.from_url(
        arguments.node, max_connections=arguments.concurrency + 1)
    tasks = [asyncio.create_task(work_in_task(client, meter, f"bench:{i}"))
             for i in range(arguments.concurrency)]
    await asyncio.sleep(meter.warm_up)
    meter.begin()
    await asyncio.sleep(meter.length)
    meter.end()
    await asyncio.gather(*tasks)
    await client.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--node", required=True)
    parser.add_argument("--concurrency", type=int, default=256)
    parser.add_argument("--length", type=int, default=1000)
    parser.add_argument("--warm-up", type=int, default=200)
    parser.add_argument("--latency", action="store_true")
    parser.add_argument("--tasks", action="store_true")
    arguments = parser.parse_args()
    meter = Meter(arguments)
    if arguments.tasks:
        asyncio.run(run_tasks(arguments, meter))
    else:
        run_threads(arguments, meter)
    print(json.dumps(meter.figures()))


if __name__ == "__main__":
    sys.exit(main())

"""redis-py's Lock on one node: acquires and releases distinct resources with a given number in
flight, and prints the figures as one line of JSON, like lock_client.

Settings: with --tasks `redis.asyncio` with a task per lock in flight, otherwise the blocking client
with a thread per lock; a connection per lock in flight; the parser of hiredis if it is installed;
`thread_local=False`.
"""

import asyncio
import json
import sys
import threading
import time

import redis
import redis.asyncio

from meter import Meter, load_parser


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
    meter.measure()
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
    parser = load_parser()
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

"""The machine: its load, its disk, and the version of the code."""

import functools
import os
import subprocess
import tempfile
import time
from pathlib import Path

from figures import median

IDLE = 0.5        # the load average below which a measurement begins
PATIENCE = 120    # seconds for which it waits for that
WRITES = 50
IN_MEMORY = ("tmpfs", "ramfs")


def load():
    """The load average of one minute."""
    return os.getloadavg()[0]


def wait_until_idle():
    """Waits for other work to end. Returns what must be said of the load, as a list."""
    limit = time.monotonic() + PATIENCE
    while load() >= IDLE:
        if time.monotonic() > limit:
            return [f"The machine was busy: the load average was {load():.2f} at the beginning."]
        time.sleep(1)
    return []


@functools.cache
def file_system():
    """That of the folder in which servers keep their data."""
    said = subprocess.run(["df", "--output=fstype", tempfile.gettempdir()], stdout=subprocess.PIPE,
                          text=True, check=True)
    return said.stdout.split()[-1]


def keeps_data():
    """How a server there keeps its data, for a title."""
    return ("keeps its data in memory" if file_system() in IN_MEMORY else "writes to its disk")


def write_us():
    """The time of a small write that is flushed to the disk."""
    times = []
    with tempfile.TemporaryFile() as file:
        for _ in range(WRITES):
            begin = time.perf_counter()
            os.write(file.fileno(), bytes(512))
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - begin)
    return 1e6 * median(times)


def disk():
    return (f"{tempfile.gettempdir()} ({file_system()}; a write of 512 bytes with fdatasync: "
            f"{write_us():,.0f} us)")


def version_of_code():
    """As git describes it, or None."""
    folder = Path(__file__).resolve().parent
    try:
        said = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return said.stdout.strip()

"""A Dask cluster of processes, for tests and for the benchmark of durability."""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress

from support.waiting import PATIENCE


class Cluster:
    """A scheduler and workers, each a process of its own, while the context lasts.

    Args:
        folder: for what they write.
        count: how many workers.
        environment: variables for all of them.
    """

    def __init__(self, folder, count, **environment):
        self.folder, self.file, self.environment = folder, folder / "scheduler.json", environment
        self.started = []
        self.scheduler = self._start("scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1")
        self.address = self._address()
        self.workers = [self.worker() for _ in range(count)]
        self._wait_for_workers(count)

    def _address(self):
        """What the scheduler writes into its file."""
        while self.scheduler.poll() is None:
            with suppress(OSError, ValueError):  # not there yet, or not all of it
                return json.loads(self.file.read_text())["address"]
            time.sleep(0.05)
        raise RuntimeError((self.folder / "log").read_text())

    def _wait_for_workers(self, count):
        """Wait until the scheduler knows so many workers."""
        from distributed import Client

        with Client(self.address, timeout=PATIENCE, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=PATIENCE)

    def worker(self):
        """One more worker."""
        return self._start("worker", "--nthreads", "1", "--no-nanny", "--no-dashboard")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.started:
            process.kill()
        for process in self.started:
            process.wait()

    def _start(self, kind, *words):
        program = [sys.executable, "-m", "dask", kind, "--scheduler-file", str(self.file), *words]
        with (self.folder / "log").open("a") as log:
            environment = os.environ | self.environment
            self.started.append(subprocess.Popen(program, stdout=log, stderr=log, cwd=self.folder, env=environment))
        return self.started[-1]

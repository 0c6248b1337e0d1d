"""A Dask cluster of local processes, for tests and the durability benchmark."""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress

from support.waiting import TIMEOUT


class Cluster:
    """A scheduler and workers in separate processes, which are killed when the context ends.

    Args:
        folder: working folder of the processes.
        count: number of workers.
        environment: environment variables of all processes.
    """

    def __init__(self, folder, count, **environment):
        self.folder, self.file, self.environment = folder, folder / "scheduler.json", environment
        self.started = []
        self.scheduler = self._start("scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1")
        self.address = self._address()
        self.workers = [self.start_worker() for _ in range(count)]
        self._wait_for_workers(count)

    def _address(self):
        """Wait for the file of the scheduler, and return the address in it."""
        while self.scheduler.poll() is None:
            with suppress(OSError, ValueError):  # missing or incomplete
                return json.loads(self.file.read_text())["address"]
            time.sleep(0.05)
        raise RuntimeError((self.folder / "log").read_text())

    def _wait_for_workers(self, count):
        """Wait until the scheduler has `count` workers."""
        from distributed import Client

        with Client(self.address, timeout=TIMEOUT, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=TIMEOUT)

    def start_worker(self):
        """Start a worker."""
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

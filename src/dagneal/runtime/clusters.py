"""Dask clusters as executors."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from time import monotonic
from types import TracebackType
from typing import Any

from dagneal.base.errors import InputError
from dagneal.runtime.executors import LostWorkersError, Shared, store_recent

_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss|ucx|ucxx)://)?(?:\[[0-9a-fA-F:.]+\]|[\w.-]+):\d+")
_CONNECT_TIMEOUT = "20s"  # time to wait for the scheduler, and then for the first worker
_LOOPBACK = "127.0.0.1"
_NO_WORKERS = 60.0  # seconds without any worker until the run stops


def _identity(value: Any) -> Any:
    return value


class DaskExecutor(Executor):
    """An executor that runs calls on a Dask cluster. If a worker dies, other workers repeat its tasks.

    Args:
        client: connected `distributed.Client`.
    """

    def __init__(self, client: Any) -> None:
        from distributed import KilledWorker
        from distributed.client import ClosedClientError, FutureCancelledError
        from distributed.comm import CommClosedError

        self.client = client
        self.name = f"the Dask cluster at {client.scheduler.address}"
        self.lost = (KilledWorker, FutureCancelledError, CommClosedError)
        self._disconnected = (ClosedClientError, OSError, RuntimeError)
        self._executor = client.get_executor(pure=False, retries=3)
        self._last_seen = monotonic()  # last time at which the cluster had a worker
        self._shared: dict[str, Any] = {}

    @property
    def workers(self) -> int:
        """Number of tasks that can run at the same time."""
        with self._explain_disconnection():
            return max(1, int(sum(self.client.nthreads().values())))

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Future[Any]:
        """Schedule a call on the cluster, and return its future; see `concurrent.futures.Executor.submit`."""
        with self._explain_disconnection():
            future: Future[Any] = self._executor.submit(function, *arguments, **keywords)
        return future

    def share(self, shared: Shared) -> Any:
        """Return a future for a shared value. If a call gets this future as an argument, Dask replaces it by the value.

        Dask sends the value once to each worker that needs it. The value is stored as the result of a Dask task, because
        Dask repeats a task if its worker dies. `Client.scatter` is not used: it can lose the value or hang if a worker dies.

        Args:
            shared: value that many calls need.
        """
        if shared.key not in self._shared:
            with self._explain_disconnection(), warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sending large graph")  # Dask recommends `scatter`
                store_recent(self._shared, shared.key, self.client.submit(_identity, shared.value, pure=False, retries=3))
        return self._shared[shared.key]

    def check(self) -> None:
        """Raise `LostWorkersError` if the cluster has had no workers for a minute."""
        try:
            workers = self.client.nthreads()
        except self._disconnected:  # if the connection stays lost, Dask cancels the tasks
            workers = {}
        if workers:
            self._last_seen = monotonic()
        elif monotonic() - self._last_seen > _NO_WORKERS:
            raise LostWorkersError(f"{self.name} has had no workers for {_NO_WORKERS:.0f} s")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop accepting calls; for the arguments, see `concurrent.futures.Executor.shutdown`."""
        self._executor.shutdown(wait=wait and not cancel_futures)

    @contextmanager
    def _explain_disconnection(self) -> Iterator[None]:
        """Turn errors of a lost connection into `LostWorkersError`."""
        try:
            yield
        except self._disconnected as error:
            raise LostWorkersError(f"the connection to {self.name} is lost", error) from error

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.shutdown(wait=kind is None)


def _local_cluster(count: int) -> Any:
    """Start a Dask cluster of processes on this machine. It listens on the loopback interface only and has no dashboard.

    Args:
        count: number of worker processes.
    """
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=count,
        threads_per_worker=1,
        processes=True,
        host=_LOOPBACK,
        # The scheduler has an HTTP server even without a dashboard; port 0 selects any free port.
        dashboard_address=f"{_LOOPBACK}:0",
        scheduler_kwargs={"dashboard": False},
        worker_dashboard_address=None,
    )


@contextmanager
def dask(address: str) -> Iterator[DaskExecutor]:
    """Connect to a Dask cluster, and yield an executor that can be used until the `with` block ends.

    Args:
        address: address of a scheduler, such as `tcp://10.0.0.1:8786`, or `local:4` for 4 worker processes on this machine.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError("Dask is not installed; install it with: pip install 'dagneal[dask]'") from error
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # dagneal reports lost connections itself
    kind, _, count = address.partition(":")
    if kind == "local":
        if not count.isdigit() or int(count) < 1:
            raise InputError(
                f"{address!r} is not a Dask cluster; give 'local:4' for 4 worker processes, or the address of a scheduler"
            )
        with _local_cluster(int(count)) as cluster, Client(cluster) as client, DaskExecutor(client) as executor:
            yield executor
        return
    if not _ADDRESS.fullmatch(address):  # the client would report this only after the timeout
        raise InputError(
            f"{address!r} is not the address of a Dask scheduler; give an address such as 'tcp://10.0.0.1:8786', or "
            "'local:4' for 4 worker processes on this machine"
        )
    try:
        client = Client(address, timeout=_CONNECT_TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"no Dask scheduler answers at {address}: {str(error).splitlines()[0] or error!r}") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=_CONNECT_TIMEOUT)
        except TimeoutError as error:
            raise InputError(
                f"the Dask scheduler at {address} has no workers; start one with: dask worker {address}"
            ) from error
        with DaskExecutor(client) as executor:
            yield executor

"""Clusters: Dask's distributed scheduler as an executor."""

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
from dagneal.runtime.executors import LostError, Shared, keep

_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss|ucx|ucxx)://)?(?:\[[0-9a-fA-F:.]+\]|[\w.-]+):\d+")
_PATIENCE = "20s"  # until a scheduler and a worker have answered
_LOOPBACK = "127.0.0.1"
_ALONE = 60.0  # seconds without any worker, until those that are gone are not waited for


def _itself(value: Any) -> Any:
    return value


class DaskExecutor(Executor):
    """An executor whose pieces are tasks of a Dask client; a worker that dies has its tasks done by others.

    Args:
        client: of `distributed`.
    """

    def __init__(self, client: Any) -> None:
        from distributed import KilledWorker
        from distributed.client import ClosedClientError, FutureCancelledError
        from distributed.comm import CommClosedError

        self.client = client
        self.name = f"the Dask cluster at {client.scheduler.address}"
        self.lost = (KilledWorker, FutureCancelledError, CommClosedError)
        self._gone = (ClosedClientError, OSError, RuntimeError)
        self._inside = client.get_executor(pure=False, retries=3)
        self._seen = monotonic()  # when there was a worker
        self._shared: dict[str, Any] = {}

    @property
    def workers(self) -> int:
        """How many tasks can be done at a time."""
        with self._reach():
            return max(1, int(sum(self.client.nthreads().values())))

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Future[Any]:
        """Hand out a call; see `concurrent.futures.Executor`."""
        with self._reach():
            future: Future[Any] = self._inside.submit(function, *arguments, **keywords)
        return future

    def share(self, shared: Shared) -> Any:
        """Something that goes once to each worker that needs it; what comes back becomes it in the arguments of a call.

        It is the result of a task, not scattered: a task whose worker dies is done again, but what was scattered is lost
        with its worker, and a broadcast waits for ever for a worker that dies meanwhile.

        Args:
            shared: what.
        """
        if shared.key not in self._shared:
            with self._reach(), warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sending large graph")  # once; the advice is to scatter it
                keep(self._shared, shared.key, self.client.submit(_itself, shared.value, pure=False, retries=3))
        return self._shared[shared.key]

    def check(self) -> None:
        """Raise `LostError` if there have been no workers for a minute."""
        try:
            workers = self.client.nthreads()
        except self._gone:  # if it does not come back, it will cancel what it was given
            workers = {}
        if workers:
            self._seen = monotonic()
        elif monotonic() - self._seen > _ALONE:
            raise LostError(f"{self.name} has had no workers for {_ALONE:.0f} s")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Hand out no more; see `concurrent.futures.Executor`."""
        self._inside.shutdown(wait=wait and not cancel_futures)

    @contextmanager
    def _reach(self) -> Iterator[None]:
        """Say in one line that the scheduler is not reached any more."""
        try:
            yield
        except self._gone as error:
            raise LostError(f"{self.name} is gone", error) from error

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.shutdown(wait=kind is None)


def _local_cluster(count: int) -> Any:
    """Worker processes on this machine, reached over the loopback interface only, without dashboards.

    Args:
        count: how many.
    """
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=count,
        threads_per_worker=1,
        processes=True,
        host=_LOOPBACK,
        # Without a dashboard the scheduler still has an HTTP server; the address gives it any free port.
        dashboard_address=f"{_LOOPBACK}:0",
        scheduler_kwargs={"dashboard": False},
        worker_dashboard_address=None,
    )


@contextmanager
def dask(address: str) -> Iterator[DaskExecutor]:
    """An executor on a Dask cluster, while the context lasts.

    Args:
        address: of a scheduler, such as `tcp://10.0.0.1:8786`, or `local:4` for four worker processes on this machine.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError("Dask is not installed; pip install 'dagneal[dask]'") from error
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what it would say of lost connections, we say
    kind, _, count = address.partition(":")
    if kind == "local":
        if not count.isdigit() or int(count) < 1:
            raise InputError(f"{address!r} is no cluster; give local:4 or the address of a scheduler")
        with _local_cluster(int(count)) as cluster, Client(cluster) as client, DaskExecutor(client) as executor:
            yield executor
        return
    if not _ADDRESS.fullmatch(address):  # a client would wait, and complain at the end
        raise InputError(f"{address!r} is no address of a Dask scheduler; give one such as tcp://10.0.0.1:8786, or local:4")
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"no Dask scheduler answers at {address}: {str(error).splitlines()[0] or error!r}") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError as error:
            raise InputError(f"the Dask scheduler at {address} has no workers") from error
        with DaskExecutor(client) as executor:
            yield executor

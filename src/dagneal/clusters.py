"""Clusters: Dask's distributed scheduler as an executor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

from dagneal.errors import InputError

_PATIENCE = "20s"  # until a scheduler and a worker have answered


class DaskExecutor(Executor):
    """An executor whose pieces are tasks of a Dask client; a worker that dies has its tasks done by others.

    Args:
        client: of `distributed`.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._inside = client.get_executor(pure=False, retries=3)

    @property
    def workers(self) -> int:
        """How many tasks can be done at a time."""
        return max(1, int(sum(self.client.nthreads().values())))

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Future[Any]:
        """Hand out a call; see `concurrent.futures.Executor`."""
        future: Future[Any] = self._inside.submit(function, *arguments, **keywords)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Hand out no more; see `concurrent.futures.Executor`."""
        self._inside.shutdown(wait=wait and not cancel_futures)


@contextmanager
def dask(address: str) -> Iterator[DaskExecutor]:
    """An executor on a Dask cluster, while the context lasts.

    Args:
        address: of a scheduler, such as `tcp://10.0.0.1:8786`, or `local:4` for four worker processes on this machine.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise InputError("Dask is not installed; pip install 'dagneal[dask]'") from error
    kind, _, count = address.partition(":")
    if kind == "local":
        if not count.isdigit() or int(count) < 1:
            raise InputError(f"{address!r} is no cluster; give local:4 or the address of a scheduler")
        options = {"n_workers": int(count), "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
        with LocalCluster(**options) as cluster, Client(cluster) as client, DaskExecutor(client) as executor:
            yield executor
        return
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

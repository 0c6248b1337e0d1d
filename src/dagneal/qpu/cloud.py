"""D-Wave's cloud as a backend.

Ocean finds the token in the user's own configuration. It is never stored or shown. Before a connection is made, it is looked
up once, so that it can be removed from log records and error messages.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import dimod

from dagneal.base.errors import InputError
from dagneal.base.redaction import add_secret, redact, redact_logs, safe_cause
from dagneal.qpu.backend import RefusedError, TransientError, UnknownProblemError
from dagneal.qpu.embedding import graph_name, working_graph

_SETUP = "run `dwave setup` (or `dwave auth login`) and try `dwave ping`"
_ID_TIMEOUT = 120.0


@dataclass(eq=False)
class CloudBackend:
    """A solver of D-Wave's service.

    Args:
        sampler: a `dwave.system.DWaveSampler`.
    """

    sampler: Any
    emulated: bool = False
    _futures: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.graph = working_graph(self.sampler)
        self.properties: dict[str, Any] = self.sampler.properties
        self.parameters: dict[str, Any] = self.sampler.parameters
        solver = self.sampler.solver
        self.name = f"{solver.name}-{getattr(solver, 'graph_id', None) or graph_name(self.graph)}"

    @classmethod
    def connect(cls, profile: str | None, solver: str | dict[str, Any] | None) -> CloudBackend:
        """Connect with the user's own configuration.

        Args:
            profile: of `dwave.conf`.
            solver: the name of a system, or features that it must have.
        """
        from dwave.system import DWaveSampler

        config = {key: value for key, value in {"profile": profile, "solver": solver}.items() if value is not None}
        wanted = "quantum annealer" if solver is None else f"quantum annealer like {solver!r}"
        return cls(_reach(lambda: DWaveSampler(**config), wanted, profile))

    def submit(self, bqm: dimod.BinaryQuadraticModel, parameters: dict[str, Any]) -> str:
        """Send a problem; see `Backend`."""
        with _translated():
            future = self.sampler.solver.sample_bqm(bqm, **{"auto_scale": False} | parameters)
            try:
                ident = future.wait_id(timeout=_ID_TIMEOUT)
            except BaseException:  # a time-out, Ctrl-C: it may yet arrive, and would be paid for in vain
                future.cancel()
                raise
            if ident is None:  # the submission failed; the reason is in the future
                future.result()
                raise TransientError("the problem got no id")
        self._futures[str(ident)] = future
        return str(ident)

    def fetch(self, ident: str, timeout: float) -> dimod.SampleSet:
        """Wait for an answer, or ask for it by its id; see `Backend`."""
        with _translated():
            future = self._futures.get(ident)
            if future is None:
                future = self.sampler.client.retrieve_answer(ident)
                future.solver = self.sampler.solver  # which decodes and cancels; the client leaves it out
                self._futures[ident] = future  # while it is waited for it can be cancelled
            if not future.wait(timeout=timeout):
                raise TransientError(f"no answer within {timeout:g} s")
            self._futures.pop(ident, None)
            found: dimod.SampleSet = future.sampleset
            found.resolve()
        return found

    def cancel(self, ident: str) -> None:
        """Give a problem up; see `Backend`."""
        future = self._futures.pop(ident, None)
        if future is not None:
            future.cancel()

    def watch(self, given_up: Callable[[], bool]) -> None:
        """Nothing takes long here but waiting, which `cancel` ends; see `Backend`."""

    def close(self) -> None:
        """Close the client; see `Backend`."""
        self.sampler.close()


def _reach(connect: Callable[[], Any], wanted: str, profile: str | None) -> Any:
    """Connect, and say in one line what is in the way. Nothing of the configuration is repeated: it holds the token."""
    from dwave.cloud.exceptions import (
        ConfigFileError,
        SolverAuthenticationError,
        SolverError,
        SolverNotFoundError,
        SolverOfflineError,
    )

    _hide_token(profile)
    try:
        return connect()
    except SolverAuthenticationError:
        raise InputError(f"D-Wave does not accept the token of your configuration; {_SETUP}") from None
    except SolverNotFoundError:
        raise InputError(f"no {wanted} is open to your account; `dwave solvers` lists what is") from None
    except SolverOfflineError:
        raise InputError(f"the {wanted} is offline, perhaps for maintenance; try later, or another one") from None
    except (ConfigFileError, SolverError, ValueError) as error:
        which = "" if profile is None else f" with the profile {profile!r}"
        raise InputError(f"there is no usable D-Wave configuration{which} ({type(error).__name__}); {_SETUP}") from None
    except OSError as error:  # requests' exceptions are of this kind
        raise InputError(f"D-Wave cannot be reached ({type(error).__name__}); check the connection, then {_SETUP}") from None


def _hide_token(profile: str | None) -> None:
    """Keep the token out of logs and error messages, whatever the level of Ocean's and other loggers."""
    from http.client import HTTPConnection

    from dwave.cloud.config import load_config

    if HTTPConnection.debuglevel:
        raise InputError(
            f"http.client.HTTPConnection.debuglevel is {HTTPConnection.debuglevel}, which prints your API token; set it to 0"
        )
    redact_logs()
    with suppress(Exception):  # whatever is wrong with the configuration, the connection says it
        add_secret(load_config(profile=profile).get("token"))


def hybrid(profile: str | None = None) -> dimod.Sampler:
    """Leap's hybrid solver for binary quadratic models, reached with your own configuration.

    Args:
        profile: of your `dwave.conf`; its default by default.
    """
    from dwave.system import LeapHybridSampler

    return _reach(lambda: LeapHybridSampler(**({} if profile is None else {"profile": profile})), "hybrid solver", profile)


class _translated:  # noqa: N801 - reads like a statement
    """Ocean's exceptions as ours: what may be tried again, what is unknown, what is final."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is None or not isinstance(error, Exception) or isinstance(error, TransientError | UnknownProblemError):
            return
        from dwave.cloud import exceptions as cloud
        from dwave.cloud.api import exceptions as api

        said, cause = redact(str(error)), safe_cause(error)
        ended = (cloud.ProblemNotFoundError, api.ResourceNotFoundError, cloud.CanceledFutureError, cloud.SolverOfflineError)
        if isinstance(error, ended):  # there will never be an answer
            raise UnknownProblemError(f"{type(error).__name__}: {said}") from cause
        final = (
            cloud.SolverAuthenticationError,
            api.ResourceAuthenticationError,
            api.ResourceAccessForbiddenError,
            api.ResourceBadRequestError,
        )
        if isinstance(error, cloud.SolverFailureError | cloud.InvalidProblemError):
            raise RefusedError(f"the quantum annealer refused the problem: {said}") from cause
        if isinstance(error, final):  # such as a token that has run out: the problem itself may be answered later
            raise InputError(f"D-Wave refused the call ({type(error).__name__}): {said}") from cause
        if isinstance(error, OSError | TimeoutError | cloud.PollingTimeout | cloud.SolverError):
            raise TransientError(f"{type(error).__name__}: {said}") from cause

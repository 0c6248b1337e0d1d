"""The backend for D-Wave's cloud service.

Ocean reads the API token from the user's configuration. dagneal never stores or shows the token. It reads the token once
before connecting, only to remove it from log records and error messages.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Thread
from typing import Any

import dimod

from dagneal.base.errors import InputError
from dagneal.base.redaction import add_secret, redact, redact_logs, safe_cause
from dagneal.qpu.backend import RefusedError, TransientError, UnknownProblemError
from dagneal.qpu.embedding import graph_name, working_graph
from dagneal.qpu.parameters import is_reverse

_SETUP = "run `dwave setup` (or `dwave auth login`) and try `dwave ping`"
_ID_TIMEOUT = 120.0  # seconds to wait for the id of a sent problem
_END_TIMEOUT = 10.0  # seconds to wait until a problem without an id is cancelled, and until a connection is closed


@dataclass(eq=False)
class CloudBackend:
    """A solver of D-Wave's cloud service.

    Args:
        sampler: `dwave.system.DWaveSampler` for the solver.
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
        """Connect to a solver with the user's D-Wave configuration.

        Args:
            profile: profile in `dwave.conf`; None for the default profile.
            solver: name of a system, or a dict of required features; None for the default solver.
        """
        from dwave.system import DWaveSampler

        config = {key: value for key, value in {"profile": profile, "solver": solver}.items() if value is not None}
        wanted = "quantum annealer" if solver is None else f"quantum annealer that matches {solver!r}"
        return cls(_connect(lambda: DWaveSampler(**config), wanted, profile))

    def submit(self, bqm: dimod.BinaryQuadraticModel, parameters: dict[str, Any]) -> str:
        """Send a problem to the service, and return the problem id; see `Backend.submit`."""
        with _translate_errors():
            future = self.sampler.solver.sample_bqm(bqm, **{"auto_scale": False} | parameters)
            try:
                problem_id = future.wait_id(timeout=_ID_TIMEOUT)
            except BaseException:  # time-out or Ctrl-C: cancel, because the problem may still arrive and cost money
                future.cancel()
                future.wait(timeout=_END_TIMEOUT)  # the client cancels when it knows the id, unless it is closed before
                raise
            if problem_id is None:  # the submission failed; result() raises the reason
                future.result()
                raise TransientError("the service returned no problem id")
        self._futures[str(problem_id)] = future
        return str(problem_id)

    def fetch(self, problem_id: str, timeout: float) -> dimod.SampleSet:
        """Wait for and return the answer to a problem, which this run or an earlier run sent; see `Backend.fetch`."""
        with _translate_errors():
            future = self._find(problem_id)
            if not future.wait(timeout=timeout):
                raise TransientError(f"no answer within {timeout:g} s")
            self._futures.pop(problem_id, None)
            answer: dimod.SampleSet = future.sampleset
            answer.resolve()
        return answer

    def cancel(self, problem_id: str) -> None:
        """Cancel a problem, even if a request for its answer has failed; see `Backend.cancel`."""
        self._find(problem_id).cancel()
        self._futures.pop(problem_id, None)

    def _find(self, problem_id: str) -> Any:
        """Return the future of a problem. If there is none, request the answer."""
        future = self._futures.get(problem_id)
        if future is None:
            future = self.sampler.client.retrieve_answer(problem_id)
            future.solver = self.sampler.solver  # needed to decode and cancel; the client does not set it
            self._futures[problem_id] = future  # allows `cancel` during the wait
        return future

    def watch(self, is_cancelled: Callable[[], bool]) -> None:
        """Do nothing, because no computation runs on this computer; see `Backend.watch`."""

    def access_time(self, qubits: int, parameters: dict[str, Any]) -> float:
        """Return Ocean's estimate of the QPU access time; see `Backend.access_time`."""
        call = dict(parameters)
        if is_reverse(call):  # Ocean's default for this estimate differs from that of the solvers
            call.setdefault("reinitialize_state", True)
        try:
            return float(self.sampler.solver.estimate_qpu_access_time(qubits, **call))
        except (KeyError, ValueError) as error:
            raise InputError(f"the access time on {self.name} is unknown: {error}") from error

    def close(self) -> None:
        """Close the connection to the service; see `Backend.close`.

        Do not wait for problems without an answer, because a later run can fetch their answers by id. If the network is
        down, do not wait until the client gives up, which would take minutes.
        """
        self.sampler.client.DEFAULT_WAIT_ON_CLOSE = False  # by default, the client waits for all answers
        closing = Thread(target=self.sampler.close, daemon=True)
        closing.start()
        closing.join(_END_TIMEOUT)


def _connect(connect: Callable[[], Any], wanted: str, profile: str | None) -> Any:
    """Return the result of `connect()`. Convert exceptions of Ocean into one-line errors.

    The errors never quote the D-Wave configuration, because the configuration contains the API token.
    """
    from dwave.cloud.api.exceptions import RequestError
    from dwave.cloud.exceptions import (
        ConfigFileError,
        SolverAuthenticationError,
        SolverError,
        SolverNotFoundError,
        SolverOfflineError,
    )

    token = _hide_token(profile)
    if token is None:
        raise InputError(f"D-Wave's service needs an API token; set DWAVE_API_TOKEN, or {_SETUP}")
    try:
        return connect()
    except SolverAuthenticationError:
        if os.environ.get("DWAVE_API_TOKEN") == token:
            raise InputError("D-Wave does not accept the token in DWAVE_API_TOKEN; set or unset this variable") from None
        raise InputError(f"D-Wave does not accept the token in your configuration; {_SETUP}") from None
    except SolverNotFoundError:
        raise InputError(f"no {wanted} is online for your account; list your solvers with `dwave solvers`") from None
    except SolverOfflineError:
        raise InputError(
            f"the {wanted} is offline, perhaps for maintenance; try again later or choose another solver"
        ) from None
    except (ConfigFileError, SolverError, ValueError) as error:
        profile_text = "" if profile is None else f" with the profile {profile!r}"
        raise InputError(f"no usable D-Wave configuration{profile_text} ({type(error).__name__}); {_SETUP}") from None
    except RequestError as error:
        raise InputError(f"D-Wave's service reports an error ({type(error).__name__}); try again later") from None
    except OSError as error:  # includes the exceptions of requests
        raise InputError(f"cannot reach D-Wave ({type(error).__name__}); check the network, then {_SETUP}") from None


def _hide_token(profile: str | None) -> str | None:
    """Make sure that the API token never appears in log records or error messages, and return it.

    Returns:
        The token, "" if the configuration cannot be read, and None if there is no token.
    """
    from http.client import HTTPConnection

    from dwave.cloud.config import load_config

    if HTTPConnection.debuglevel:
        raise InputError(
            f"http.client.HTTPConnection.debuglevel is {HTTPConnection.debuglevel}, which prints your API token; set it to 0"
        )
    redact_logs()
    try:
        token: str | None = load_config(profile=profile).get("token")
    except Exception:
        return ""
    add_secret(token)
    return token


def hybrid(profile: str | None = None) -> dimod.Sampler:
    """Return Leap's hybrid solver for binary quadratic models, using your D-Wave configuration.

    Args:
        profile: profile in your `dwave.conf`; None for the default profile.
    """
    from dwave.system import LeapHybridSampler

    return _connect(lambda: LeapHybridSampler(**({} if profile is None else {"profile": profile})), "hybrid solver", profile)


class _translate_errors:  # noqa: N801 - used like a function
    """Context manager that converts exceptions of Ocean into `TransientError`, `UnknownProblemError` or `InputError`."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is None or not isinstance(error, Exception) or isinstance(error, TransientError | UnknownProblemError):
            return
        from dwave.cloud import exceptions as cloud
        from dwave.cloud.api import exceptions as api

        message, cause = redact(str(error)), safe_cause(error)
        status = getattr(error, "error_code", None)  # the client often raises SolverError with the status of the service
        ended = (cloud.ProblemNotFoundError, api.ResourceNotFoundError, cloud.CanceledFutureError, cloud.SolverOfflineError)
        if isinstance(error, ended) or status == 404:  # the service has no answer and never will have
            raise UnknownProblemError(f"{type(error).__name__}: {message}") from cause
        final = (
            cloud.SolverAuthenticationError,
            api.ResourceAuthenticationError,
            api.ResourceAccessForbiddenError,
            api.ResourceBadRequestError,
        )
        if isinstance(error, cloud.SolverFailureError | cloud.InvalidProblemError):
            raise RefusedError(f"the quantum annealer refused the problem: {message}") from cause
        if isinstance(error, final) or status in (400, 401, 403):  # such as an expired token; a later run can continue
            raise InputError(f"D-Wave refused the call ({type(error).__name__}): {message}") from cause
        if isinstance(error, OSError | TimeoutError | cloud.PollingTimeout | cloud.SolverError):
            raise TransientError(f"{type(error).__name__}: {message}") from cause

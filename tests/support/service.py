"""A stand-in for D-Wave's cloud service: an HTTP server on this computer with the interface of D-Wave's solver API.

The cloud client of Ocean works with it unchanged. Problems are solved by an emulated chip, so nothing is sent or paid.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import random
import socket
import sys
import threading
import zlib
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import dimod
import numpy as np

from dagneal.qpu.chips import chip_graph
from dagneal.qpu.embedding import graph_name, working_graph
from support.quantum import small_chip
from support.waiting import TIMEOUT

TOKEN = "DEV-0123456789abcdef0123456789abcdef01234567"
NAME = "Advantage2_system4.1"
OFFLINE = "Solver is offline"
_ROOT = "/sapi/v2/"
_PER_QUBIT = ("anneal_offsets", "flux_biases", "initial_state")
_PARAMETERS = (
    *("num_reads", "annealing_time", "answer_mode", "max_answers", "auto_scale", "label", *_PER_QUBIT),
    *("anneal_schedule", "fast_anneal", "flux_drift_compensation", "h_gain_schedule", "reduce_intersample_correlation"),
    *("reinitialize_state", "programming_thermalization", "readout_thermalization"),
)


@dataclass(eq=False)
class ServiceError(Exception):
    """A failed request.

    Attributes:
        status: HTTP status; None to drop the connection without an answer.
        message: text of the error.
        retry_after: value of the header `Retry-After` in seconds; None to omit the header.
        late: whether the service does the work of the request before it fails.
    """

    status: int | None
    message: str = "the request failed"
    retry_after: int | None = None
    late: bool = False


Policy = Callable[["Service", str], ServiceError | None]
"""Function that is called for each request, with the service and the kind of the request.

The kinds are `solvers`, `submit`, `poll`, `fetch` and `cancel`. The function returns a failure, or None if the request
shall succeed. It may change the service, for example its token.
"""


def fail_randomly(seed: int, share: float = 0.3) -> Policy:
    """Return a policy that fails a share of all requests about problems: busy service, full queue or lost connection.

    A submission fails before the service has accepted the problems. Other requests may also fail afterwards.

    Args:
        seed: seed of the failures.
        share: fraction of the requests that fail.
    """
    generator = random.Random(seed)

    def fail(_: Service, kind: str) -> ServiceError | None:
        if kind == "solvers":
            return None
        fails, late = generator.random() < share, generator.random() < 0.5  # the n-th request always uses the same numbers
        status, retry_after = generator.choice([None, 429, 503]), generator.choice([None, 0])
        return ServiceError(status, "try again later", retry_after, late and kind != "submit") if fails else None

    return fail


def corner_chip() -> Any:
    """Return an emulated chip on which only 160 qubits in a corner work, so that a short run needs several calls."""
    import dwave.graphs

    whole, corner = chip_graph("zephyr", (6,)), chip_graph("zephyr", (2,))
    move = next(iter(dwave.graphs.zephyr_sublattice_mappings(corner, whole)))
    return small_chip(sweeps=3.0, broken=sorted(set(whole) - {move(qubit) for qubit in corner}))


@dataclass(eq=False)
class Problem:
    """A problem that the service has accepted.

    Attributes:
        content: problem as the client sent it.
        bqm: decoded problem.
        digest: hash of the problem without its label.
        status: `PENDING`, `COMPLETED`, `CANCELLED` or `FAILED`.
        error: reason of a failure.
        answer: answer in the format `qp`.
    """

    content: dict[str, Any]
    bqm: dimod.BinaryQuadraticModel
    digest: str
    status: str = "PENDING"
    error: str = ""
    answer: dict[str, Any] | None = None
    id: str = field(default_factory=lambda: str(uuid4()))
    submitted: str = field(default_factory=lambda: datetime.now(UTC).isoformat())

    def describe(self, with_answer: bool = False) -> dict[str, Any]:
        """Return the description of the problem that the service sends.

        Args:
            with_answer: whether to include the answer.
        """
        content = self.content
        text = {"id": self.id, "status": self.status, "submitted_on": self.submitted}
        text |= {key: content[key] for key in ("type", "solver", "label") if key in content}
        if self.status != "PENDING":
            text["solved_on"] = datetime.now(UTC).isoformat()
        if self.error:
            text["error_message"] = self.error
        return text | ({"answer": self.answer} if with_answer and self.answer else {})


class Service:
    """A running service with one solver. Use it in a `with` statement, which stops the server at the end.

    Args:
        chip: emulated chip that solves the problems.

    Attributes:
        policy: function that decides which requests fail; None if none fails.
        enforced: properties of the solver that the service enforces. They may differ from the properties that it shows.
        token: token that the service accepts; None if no token is valid.
        offline: whether the solver is offline. All unfinished problems then fail.
        hold_after: number of problems after which accepted problems stay pending; None to solve all problems.
        longest_poll: seconds after which a poll ends without news, even if the client would wait longer.
        accept_invalid: whether the service accepts an invalid problem and then fails, instead of refusing it.
        problems: accepted problems by id.
        requests: number of requests of each kind.
        failures: failures that the policy caused.
    """

    def __init__(self, chip: Any = None) -> None:
        self.chip = corner_chip() if chip is None else chip
        self.policy: Policy | None = None
        self.token: str | None = TOKEN
        self.offline = False
        self.hold_after: int | None = None
        self.longest_poll = 0.5
        self.accept_invalid = False
        self.problems: dict[str, Problem] = {}
        self.requests: Counter[str] = Counter()
        self.failures: list[ServiceError] = []
        self.advertised = self.chip.properties | {
            "category": "qpu",
            "supported_problem_types": ["ising", "qubo"],
            "num_qubits": len(chip_graph(self.chip.system.topology, self.chip.system.shape)),
            "qubits": list(self.chip.nodelist),
            "couplers": [list(edge) for edge in self.chip.edgelist],
            "parameters": dict.fromkeys(_PARAMETERS, "a parameter"),
            "fast_anneal_time_range": [0.005, 2000.0],
        }
        for name in ("emulated", "emulator"):
            self.advertised.pop(name, None)
        self.enforced = dict(self.advertised)
        self.identity = {"name": NAME, "version": {"graph_id": graph_name(working_graph(self.chip))[:10]}}
        self._changed = threading.Condition()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> Service:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._server.closing = True
            self._changed.notify_all()
        self._server.shutdown()
        self._thread.join()
        self._server.stop()
        if self._server.errors:
            raise self._server.errors[0]

    @property
    def endpoint(self) -> str:
        """Address of the service."""
        return f"http://127.0.0.1:{self._server.server_port}{_ROOT}"

    @property
    def paid_twice(self) -> list[Problem]:
        """Problems that the service solved or will solve, although it has accepted the same problem before."""
        seen, repeated = set(), []
        for problem in self.problems.values():
            if problem.status in ("PENDING", "COMPLETED"):
                repeated += [problem] if problem.digest in seen else []
                seen.add(problem.digest)
        return repeated

    def count(self, status: str) -> int:
        """Return the number of problems with a status.

        Args:
            status: `PENDING`, `COMPLETED`, `CANCELLED` or `FAILED`.
        """
        return sum(problem.status == status for problem in list(self.problems.values()))

    def release(self) -> None:
        """Solve the problems that `hold_after` keeps pending."""
        with self._changed:
            self.hold_after = None
            for problem in self.problems.values():
                self._advance(problem)
            self._changed.notify_all()

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds; the condition is checked after each request.

        Args:
            condition: function that returns whether the condition holds.
        """
        with self._changed:
            assert self._changed.wait_for(condition, TIMEOUT), "the service waited in vain"

    def respond(self, method: str, target: str, token: str | None, body: bytes) -> Any:
        """Return the content of the answer to a request, or raise `ServiceError`.

        Args:
            method: `GET`, `POST` or `DELETE`.
            target: path and query of the request.
            token: token that the client sent.
            body: decoded body of the request.
        """
        url = urlsplit(target)
        parts = url.path.removeprefix(_ROOT).strip("/").split("/")
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        kind = _find_kind(method, parts, query)
        with self._changed:
            self.requests[kind] += 1
            self._changed.notify_all()  # `wait_until` continues after this request, which keeps the lock
            failure = self.policy(self, kind) if self.policy is not None else None
            if failure is not None:
                self.failures.append(failure)
            if failure is None or failure.late:
                if self.token is None or token != self.token:
                    raise ServiceError(401, "Invalid token or access denied")
                content = self._answer(kind, parts, query, body)
        if failure is not None:
            raise failure
        return content

    def _answer(self, kind: str, parts: list[str], query: dict[str, str], body: bytes) -> Any:
        if kind == "solvers":
            return self._describe_solvers(parts[2:], query.get("filter", "all"))
        if kind == "submit":
            return [self._accept(content) for content in json.loads(body)]
        if kind == "poll":
            return self._poll([self._find(name) for name in query["id"].split(",")], float(query.get("timeout", 0)))
        if kind == "fetch":
            problem = self._find(parts[1])
            self._advance(problem)
            return problem.describe(with_answer=True)
        if len(parts) > 1:
            return self._cancel(parts[1])
        return [self._cancel(name) for name in json.loads(body)]

    def _describe_solvers(self, names: list[str], chosen: str) -> Any:
        """Return the description of the solver that is named in the path, or a list with all solvers."""
        if names and names[0] != NAME:
            raise ServiceError(404, "Solver does not exist or apitoken does not have access")
        whole = {
            "identity": self.identity,
            "status": "OFFLINE" if self.offline else "ONLINE",
            "description": "An emulated chip",
            "properties": self.advertised,
            "avg_load": 0.1,
        }
        first, *changes = chosen.split(",")
        fields = set(whole) if first == "all" else set()
        for change in changes:
            (fields.add if change[0] == "+" else fields.discard)(change[1:])
        described = {name: value for name, value in whole.items() if name in fields}
        return described if names else [described]

    def _accept(self, content: dict[str, Any]) -> dict[str, Any]:
        """Accept a problem, and return its description; return an error if the problem is invalid."""
        if content["solver"] != self.identity:
            return {"error_code": 404, "error_msg": "Solver does not exist or apitoken does not have access"}
        bqm = _decode_problem(content, self.advertised)
        error = _find_error(bqm, content["params"], self.enforced)
        if error and not self.accept_invalid:
            return {"error_code": 400, "error_msg": error}
        text = json.dumps({key: value for key, value in content.items() if key != "label"}, sort_keys=True)
        problem = Problem(content, bqm, hashlib.blake2b(text.encode(), digest_size=8).hexdigest())
        self.problems[problem.id] = problem
        if error or self.offline:
            problem.status, problem.error = "FAILED", error or OFFLINE
        return problem.describe()

    def _find(self, name: str) -> Problem:
        if name not in self.problems:
            raise ServiceError(404, "Problem does not exist or apitoken does not have access")
        return self.problems[name]

    def _poll(self, chosen: list[Problem], seconds: float) -> list[dict[str, Any]]:
        """Wait until a problem ends, and return the descriptions of all chosen problems."""

        def has_news() -> bool:
            ended = [self._advance(problem) for problem in chosen]
            return self._server.closing or any(ended)

        self._changed.wait_for(has_news, min(seconds, self.longest_poll))
        return [problem.describe() for problem in chosen]

    def _advance(self, problem: Problem) -> bool:
        """Solve a pending problem unless it is held back. Return whether the problem has ended."""
        held = self.hold_after is not None and list(self.problems).index(problem.id) >= self.hold_after
        if problem.status == "PENDING" and self.offline:
            problem.status, problem.error = "FAILED", OFFLINE
        elif problem.status == "PENDING" and not held:
            problem.answer, problem.status = self._solve(problem), "COMPLETED"
        return problem.status != "PENDING"

    def _solve(self, problem: Problem) -> dict[str, Any]:
        """Return the answer of the chip. Equal problems get equal answers, so runs can be compared."""
        parameters = problem.content["params"]
        unknown = {"auto_scale"} | ({"annealing_time"} if parameters.get("fast_anneal") else set())
        known = {name: parameters[name] for name in parameters if name in self.chip.parameters and name not in unknown}
        known["answer_mode"] = mode = known.get("answer_mode", "histogram")
        answer = self.chip.sample(problem.bqm, **known, seed=int(problem.digest, 16) % 2**31)
        return _encode_answer(answer, mode, problem.bqm.offset, self.advertised["num_qubits"])

    def _cancel(self, name: str) -> dict[str, Any]:
        problem = self._find(name)
        if problem.status != "PENDING":
            return {"error_code": 409, "error_msg": "Problem has been finished."}
        problem.status = "CANCELLED"
        return problem.describe()


def _find_kind(method: str, parts: list[str], query: dict[str, str]) -> str:
    """Return the kind of a request; see `Policy`."""
    if method == "GET" and parts[:2] == ["solvers", "remote"]:
        return "solvers"
    if parts[0] == "problems" and len(parts) <= 2:
        if method == "GET" and ("id" in query or len(parts) == 2):
            return "fetch" if len(parts) == 2 else "poll"
        if method in ("POST", "DELETE"):
            return "submit" if method == "POST" else "cancel"
    raise ServiceError(404, "Unknown address")


def _decode_problem(content: dict[str, Any], properties: dict[str, Any]) -> dimod.BinaryQuadraticModel:
    """Decode a problem in the format `qp`.

    This format has a field for every qubit, NaN if the qubit is not used, and a coupling for each pair of used qubits.
    """
    data = content["data"]
    fields = np.frombuffer(base64.b64decode(data["lin"]), dtype="<f8")
    pairs = zip(properties["qubits"], fields.tolist(), strict=True)
    linear = {qubit: value for qubit, value in pairs if not math.isnan(value)}
    used = [(a, b) for a, b in properties["couplers"] if a in linear and b in linear]
    couplings = np.frombuffer(base64.b64decode(data["quad"]), dtype="<f8").tolist()
    quadratic = {pair: value for pair, value in zip(used, couplings, strict=True) if value}
    vartype = {"ising": dimod.SPIN, "qubo": dimod.BINARY}[content["type"]]
    return dimod.BinaryQuadraticModel(linear, quadratic, data.get("offset", 0.0), vartype)


def _find_error(bqm: dimod.BinaryQuadraticModel, parameters: dict[str, Any], limits: dict[str, Any]) -> str:
    """Return why a problem or its parameters are invalid; empty if they are valid."""
    for name in parameters:
        if name not in limits["parameters"]:
            return f"Unknown parameter: {name}"
    fast = parameters.get("fast_anneal", False)
    if fast and any(bqm.spin.linear.values()):
        return "h must be zero with fast_anneal"
    for name in _PER_QUBIT:
        if name in parameters and len(parameters[name]) != limits["num_qubits"]:
            return f"{name} must have {limits['num_qubits']} entries"
    for name in ("num_reads", "annealing_time"):
        low, high = limits["fast_anneal_time_range" if fast and name == "annealing_time" else f"{name}_range"]
        if name in parameters and not low <= parameters[name] <= high:
            return f"{name} = {parameters[name]} is out of range [{low}, {high}]"
    annealing = parameters.get("annealing_time", limits["default_annealing_time"])
    annealing = parameters.get("anneal_schedule", [[annealing]])[-1][0]
    pause, cooling = (
        parameters.get(name, limits[f"default_{name}"]) for name in ("readout_thermalization", "programming_thermalization")
    )
    duration = parameters.get("num_reads", 1) * (annealing + pause) + cooling
    if duration > limits["problem_run_duration_range"][1]:
        return f"the run time of {duration} microseconds is too long"
    if parameters.get("auto_scale", True):
        return ""
    model = bqm.spin
    for name, values, key in (("h", model.linear, "h_range"), ("J", model.quadratic, "extended_j_range")):
        low, high = limits[key]
        for place, value in values.items():
            if not low <= value <= high:
                return f"{name} = {value} at {place} is out of range [{low}, {high}]"
    return ""


def _encode_answer(answer: dimod.SampleSet, mode: str, offset: float, qubits: int) -> dict[str, Any]:
    """Encode an answer in the format `qp`: eight spins in a byte, and energies without the offset of the problem."""
    order = np.argsort(answer.variables)
    record = answer.record[np.argsort(answer.record.energy, kind="stable")] if mode == "histogram" else answer.record
    spins = np.packbits(record.sample[:, order] > 0, axis=1)
    encoded = {
        "format": "qp",
        "active_variables": _encode(np.sort(answer.variables), "<i4"),
        "solutions": _encode(spins, "u1"),
        "energies": _encode(record.energy - offset, "<f8"),
        "num_variables": qubits,
        "timing": answer.info["timing"],
    }
    return encoded | ({"num_occurrences": _encode(record.num_occurrences, "<i4")} if mode == "histogram" else {})


def _encode(values: Any, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()


class _Server(ThreadingHTTPServer):
    """An HTTP server that can end all connections, so that no thread is left when it stops."""

    daemon_threads = False

    def __init__(self, service: Service) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.service = service
        self.closing = False
        self.errors: list[BaseException] = []
        self._connections: set[Any] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that are gone. Keep other errors for the test."""
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, OSError):
            self.errors.append(error)

    def stop(self) -> None:
        """End all connections, and wait for their threads."""
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    """Reads the requests of one connection, and sends the answers of the service."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # send an answer in one piece, because small pieces cause delays
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._handle()

    def do_POST(self) -> None:
        self._handle()

    def do_DELETE(self) -> None:
        self._handle()

    def log_message(self, *_: Any) -> None:
        """Print nothing."""

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Content-Encoding") == "deflate":
            body = zlib.decompress(body)
        headers = {}
        try:
            content = self.server.service.respond(self.command, self.path, self.headers.get("X-Auth-Token"), body)
            status = 200
            # The client checks that the answer has the media type and version that it asked for.
            headers["Content-Type"] = self.headers.get("Accept", "application/json")
        except ServiceError as failure:
            if failure.status is None:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            status, content = failure.status, {"error_code": failure.status, "error_msg": failure.message}
            if failure.retry_after is not None:
                headers["Retry-After"] = str(failure.retry_after)
        text = json.dumps(content).encode()
        if status == 200 and "/solvers/" in self.path:
            # The client may keep the description of a solver, but has to ask whether it is still valid.
            headers |= {"ETag": f'W/"{hashlib.blake2b(text, digest_size=8).hexdigest()}"', "Cache-Control": "no-cache"}
            if self.headers.get("If-None-Match") == headers["ETag"]:
                status, text = 304, b""
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(text))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

"""Tests that API tokens never appear in log records, error messages or tracebacks, at any log level."""

import http.client
import io
import json
import logging
import threading
import traceback
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import MappingProxyType

import dimod
import pytest

import dagneal as dn
from dagneal.base import redaction
from dagneal.qpu.backend import TransientError
from dagneal.qpu.cloud import CloudBackend, hybrid
from dagneal.qpu.sampler import connect
from support.quantum import Cloud, Future

TOKENS = ("DEV-0123456789abcdef0123456789abcdef01234567", "my-own_Secret.7", "broken-secret\nwith-a-second-line")


class Service(BaseHTTPRequestHandler):
    """A fake service with one small solver; it answers submissions with an error that contains the token."""

    status = 200

    def do_GET(self):
        from dwave.cloud.testing.mocks import qpu_pegasus_solver_data

        data = qpu_pegasus_solver_data(2)
        data["properties"]["parameters"] |= {"auto_scale": "", "num_reads": ""}
        kind = "application/vnd.dwave.sapi.solver-definition-list+json; version=3.0.0"
        self._answer(self.status, [data] if self.status == 200 else {"error_msg": str(self.headers)}, kind)

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer(403, {"error_code": 403, "error_msg": f"no access with {self.headers['X-Auth-Token']}"})

    def _answer(self, status, content, kind="application/json"):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def service(monkeypatch, tmp_path):
    server = HTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    for name in ("DWAVE_PROFILE", "DWAVE_LOG_LEVEL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "dwave.conf").write_text("")
    monkeypatch.setenv("DWAVE_CONFIG_FILE", str(tmp_path / "dwave.conf"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("DWAVE_API_ENDPOINT", f"http://127.0.0.1:{server.server_port}/sapi/v2/")
    monkeypatch.setattr(Service, "status", 200)
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def logged(monkeypatch):
    """Capture the output of all loggers at the lowest level, and undo the redaction afterwards."""
    factory = logging.getLogRecordFactory()
    monkeypatch.setattr(redaction, "_secrets", set())
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setLevel(1)
    loggers = [logging.getLogger(name) for name in ("", "dwave", "dwave.cloud", "urllib3")]
    levels = [logger.level for logger in loggers]
    loggers[0].addHandler(handler)
    for logger in loggers:
        logger.setLevel(1)
    yield text
    loggers[0].removeHandler(handler)
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
    logging.setLogRecordFactory(factory)


def _contains(token, text):
    return any(part in text for part in token.split())


@pytest.mark.slow
@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("status", [200, 401, 500])
def test_logs_and_errors_do_not_contain_the_token(token, status, service, logged, monkeypatch):
    monkeypatch.setenv("DWAVE_API_TOKEN", token)
    monkeypatch.setattr(Service, "status", status)
    message = ""
    try:
        with CloudBackend.connect(None, None).sampler as sampler:
            backend = CloudBackend(sampler)
            bqm = dimod.BinaryQuadraticModel({min(backend.graph): 1.0}, {}, 0.0, "SPIN")
            backend.submit(bqm, {"num_reads": 1})
    except (dn.InputError, TransientError) as error:
        message = "".join(traceback.format_exception(error))
    assert message
    logging.getLogger("mine").warning("token %s", token)
    try:
        raise RuntimeError(f"with {token}")
    except RuntimeError:
        logging.getLogger("mine").exception("it failed")
    assert not _contains(token, message)
    assert "dwave.cloud" in "".join(logging.root.manager.loggerDict)
    assert "it failed" in logged.getvalue()
    assert "solvers/remote" in logged.getvalue()  # the Ocean client has logged something
    assert not _contains(token, logged.getvalue())


@pytest.mark.slow
def test_logs_of_the_hybrid_solver_do_not_contain_the_token(service, logged, monkeypatch):
    monkeypatch.setenv("DWAVE_API_TOKEN", TOKENS[0])
    with pytest.raises(dn.InputError, match="no hybrid solver"):
        hybrid()
    assert "Config loaded" in logged.getvalue()
    assert TOKENS[0] not in logged.getvalue()


def test_debug_output_of_http_client_is_refused(service, monkeypatch):
    monkeypatch.setenv("DWAVE_API_TOKEN", TOKENS[0])
    monkeypatch.setattr(http.client.HTTPConnection, "debuglevel", 1)
    with pytest.raises(dn.InputError, match="debuglevel is 1, which prints your API token; set it to 0"):
        connect()


@pytest.mark.slow
def test_errors_of_requests_do_not_contain_the_token(monkeypatch):
    from dwave.cloud.api.exceptions import ResourceBadRequestError
    from dwave.cloud.exceptions import SolverFailureError

    for kind in (SolverFailureError, ResourceBadRequestError, ConnectionError):
        try:
            raise RuntimeError(f"X-Auth-Token: {TOKENS[0]}")
        except RuntimeError as inner:
            error = kind(f"failed for {TOKENS[0]}")
            error.__cause__ = inner
        with pytest.raises((dn.InputError, TransientError)) as caught:
            CloudBackend(Cloud([Future(error=error)])).fetch("id-9", 1.0)
        assert "failed for [hidden]" in str(caught.value)
        assert TOKENS[0] not in "".join(traceback.format_exception(caught.value))


def test_the_token_is_removed_from_error_messages_of_samplers():
    class Leaky(dimod.Sampler):
        parameters = properties = MappingProxyType({})

        def sample(self, bqm, **_):
            raise ValueError(f"bad request, headers {{'X-Auth-Token': '{TOKENS[0]}'}}")

    table = dn.scoring.score_table(dn.load("lung-cancer").expected_data(1_000))
    with pytest.raises(dn.InputError, match="Leaky failed with ") as caught:
        dn.solvers.anneal(table, Leaky())
    assert TOKENS[0] not in "".join(traceback.format_exception(caught.value))


def test_other_text_is_not_redacted():
    for text in (
        "token=None",
        "10 tokens are enough",
        "edge a-b",
        "problem 7c9e6679-7425-40de-944b-e07fc1f90ae7 is lost",
    ):
        assert redaction.redact(text) == text

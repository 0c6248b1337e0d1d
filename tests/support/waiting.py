"""Waiting for other threads and processes: for an event, not for a time, so that a loaded machine makes no difference."""

import time

PATIENCE = 600  # seconds after which a test that waits in vain fails, instead of hanging


def wait_for_file(path, process):
    """Wait until a process has written a file.

    Args:
        path: the file.
        process: of `subprocess`; if it ends before, the test fails.
    """
    until = time.monotonic() + PATIENCE
    while not path.exists():
        assert process.poll() is None or path.exists(), f"the process ended with {process.returncode}, without {path.name}"
        assert time.monotonic() < until
        time.sleep(0.02)

"""Wait for events of other processes instead of fixed times, so that tests pass on a slow machine."""

import time

TIMEOUT = 600  # seconds until a waiting test fails


def wait_for_file(path, process):
    """Wait until a process has written a file.

    Args:
        path: file to wait for.
        process: `subprocess.Popen`; the test fails if the process ends without writing the file.
    """
    deadline = time.monotonic() + TIMEOUT
    while not path.exists():
        assert process.poll() is None or path.exists(), (
            f"the process exited with {process.returncode} and did not write {path.name}"
        )
        assert time.monotonic() < deadline
        time.sleep(0.02)

"""Verdicts of acceptance checks: print each figure with its target, and exit with 1 if a target is missed."""

from __future__ import annotations

import sys


class Verdicts:
    """Print figures with their targets, and count the missed targets.

    >>> verdicts = Verdicts()
    >>> verdicts.add("differences", 0, "0", met=True)
    PASS  differences                                                                  0   target 0
    """

    def __init__(self) -> None:
        self.failed = 0

    def add(self, what: str, figure: object, target: str, met: bool) -> None:
        """Print one figure.

        Args:
            what: name of the figure.
            figure: measured value.
            target: description of the target.
            met: whether the target is met.
        """
        self.failed += not met
        print(f"{'PASS' if met else 'FAIL'}  {what:64} {figure!s:>12}   target {target}", flush=True)

    def exit(self) -> None:
        """Exit, with status 1 if a target is missed."""
        print("FAIL" if self.failed else "PASS", flush=True)
        sys.exit(bool(self.failed))

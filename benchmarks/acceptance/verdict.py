"""Verdicts of acceptance checks: each figure with its target, and an exit status that says whether all are met."""

from __future__ import annotations

import sys


class Verdicts:
    """Prints figures beside their targets, and remembers whether all targets are met.

    >>> verdicts = Verdicts()
    >>> verdicts.add("differences", 0, "0", met=True)
    PASS  differences                                                                  0   target 0
    """

    def __init__(self) -> None:
        self.failed = 0

    def add(self, what: str, figure: object, target: str, met: bool) -> None:
        """Print one figure.

        Args:
            what: it is.
            figure: as it was seen.
            target: what it has to be, in words.
            met: whether it is.
        """
        self.failed += not met
        print(f"{'PASS' if met else 'FAIL'}  {what:64} {figure!s:>12}   target {target}", flush=True)

    def exit(self) -> None:
        """End the process, with status 1 if a target is not met."""
        print("FAIL" if self.failed else "PASS", flush=True)
        sys.exit(bool(self.failed))

"""The paper's evaluation: its tables and figures, run again, with the published figure beside ours.

An item is a table or figure of the paper. To add one, write a module with an `ITEM` (see `dagneal.paper.items.Item`): its
name, the paper's number, a title, the rule of its verdict, a function from a `Setting` to the cases that it needs, and a
function from the records to a `Section`. Then add one line to `dagneal.paper.evaluation.ITEMS`. Command line, progress,
records and report need no change. `speedup.py` is a short example. If no kind of run fits, write a function from plain
inputs to an `Outcome`, and add it to `dagneal.paper.runner.KINDS`.

This package uses public names of dagneal only, so it is also an example of how to use them.
"""

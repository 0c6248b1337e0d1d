"""The paper's evaluation: run its tables and figures again, and print the published values next to ours.

An item is a table or figure of the paper. To add an item, write a module with an `ITEM` (see `dagneal.paper.items.Item`). It
has a name, the paper's number, a title, the rule for its verdict, a function from a `Setting` to the cases to run, and a
function from the records to a `Section`. Then add one line to `dagneal.paper.evaluation.ITEMS`. The command line, progress,
records and report need no change. `speedup.py` is a short example. If no existing kind of run fits, write a function from
plain inputs to an `Outcome`, and add it to `dagneal.paper.runner.KINDS`.

This package uses only public names of dagneal. It is therefore also an example of how to use them.
"""

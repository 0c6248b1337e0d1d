"""The paper's evaluation: run its tables and figures again, and print the published values next to ours.

An item is a table, figure or section of the paper. To add an item, write a module that defines `ITEM`, and add one line to
`dagneal.paper.evaluation.ITEMS`. `ITEM` is an `Item` (see `dagneal.paper.items`). Its function `cases` lists the runs, and
its function `section` turns the records of the runs into a section of the report. `speedup.py` is a short example. The
command line, progress, records and report need no change. If no existing kind of run fits, write a function that takes plain
inputs and returns an `Outcome`, and add it to `dagneal.paper.runner.KINDS`.

This package uses only public names of dagneal. It is therefore also an example of how to use them.
"""

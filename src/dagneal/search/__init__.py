"""The anytime search: lists of good parent sets, and a search for the best order of the variables.

`anytime` runs the stages. It alternates two steps:

1. Find the best order for the parent sets that are known so far (`climb`, `cuts`).
2. Propose and score new parent sets near the ones that the best networks use (`proposals`, `neighbours`, `joint_gains`).

`parent_sets` stores the sets, and `space` has the arrays that the compiled functions read. `changes` checks that no single
change raises the score. `trace` records the progress.
"""

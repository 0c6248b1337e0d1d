"""How a run is carried out: its context, task scheduling, executors and the journal."""

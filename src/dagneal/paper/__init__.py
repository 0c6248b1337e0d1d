"""The paper's evaluation: its tables and figures, run again, with the published figure beside ours."""

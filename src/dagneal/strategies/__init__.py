"""What users pass to learn() as solver."""

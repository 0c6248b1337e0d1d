"""The page: one self-contained HTML file about a learned network."""

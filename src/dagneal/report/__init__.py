"""Reports of a learned network: HTML page, drawings and text for the terminal."""

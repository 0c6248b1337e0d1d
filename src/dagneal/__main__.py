"""Run the command line with `python -m dagneal`."""

import sys

from dagneal.cli import main

sys.exit(main())

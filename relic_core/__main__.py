"""``python -m relic_core``: the program without its pages."""

import sys

from relic_core.cli import main

if __name__ == "__main__":
    sys.exit(main())

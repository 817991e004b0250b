"""``python -m relic_core``: the program without its pages."""

import sys

STOPPED = 130


def start() -> int:
    """Run one command; stopped by Ctrl-C while the program is still being loaded, it ends as it does later."""
    try:
        from relic_core.cli import main

        return main()
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return STOPPED


if __name__ == "__main__":
    sys.exit(start())

"""Settings, read from ``RELIC_*`` in the environment and from ``relic.toml``; where the program stands."""

from relic_core.config.settings import ASSETS, PROJECT, Settings, as_file, example, stated

__all__ = ["ASSETS", "PROJECT", "Settings", "as_file", "example", "stated"]

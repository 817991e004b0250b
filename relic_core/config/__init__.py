"""Settings, read from ``RELIC_*`` in the environment and from ``relic.toml``; where the program stands."""

from relic_core.config.settings import APP, ASSETS, FILE, NAMED_BY, PROJECT, Settings, as_file, example, stated

__all__ = ["APP", "ASSETS", "FILE", "NAMED_BY", "PROJECT", "Settings", "as_file", "example", "stated"]

"""Settings: one table of them, read from ``RELIC_*`` in the environment and from ``relic.toml``, checked when made."""

from relic_core.config.places import ASSETS, PROJECT
from relic_core.config.settings import Settings
from relic_core.config.stated import Stated, example, stated

__all__ = ["ASSETS", "PROJECT", "Settings", "Stated", "example", "stated"]

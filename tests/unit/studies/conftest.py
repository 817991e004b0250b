"""What the tests of studies share."""

from __future__ import annotations

import pytest

from relic_core.wiring import build
from tests.inline import InlineExecutor


@pytest.fixture
def bench(settings):
    """A workbench that holds the sample and does its jobs at once."""
    workbench = build(settings, executor=InlineExecutor(settings))
    workbench.ensure_sample()
    return workbench

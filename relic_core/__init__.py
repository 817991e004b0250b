"""RELiC Workbench: find the quotation that supports a literary claim.

::

    import relic_core

    library = relic_core.Library("my-library")
    work = library.add("persuasion.txt")
    for card in library.search("Anne regrets that she refused him", work):
        print(card, library.cite(card))

`docs/python.md` shows the rest. Nothing is loaded before it is asked for.
"""

import os
from importlib import import_module

__version__ = "0.1.0"

_HOMES = {
    "Library": "api",
    "Ranker": "api",
    "RelicError": "errors",
    "Retriever": "ports",
    "Span": "domain",
    "register": "retrieval.registry",
}
__all__ = list(_HOMES)

# OpenMP's threads wait for each other by spinning unless told not to. On a machine that does anything else beside, that
# made indexing five to six times as slow (two cores, one of them busy). It is read when torch is loaded, hence here.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'relic_core' has no attribute '{name}'")
    return getattr(import_module(f"relic_core.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

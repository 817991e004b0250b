"""Names of the program that the modules carried along mention and learning does not use."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class _Name:
    def __init__(self, *_: object, **__: object) -> None:
        raise NotImplementedError(f"{type(self).__name__} was not packed: this folder only learns")


class _Absent(ModuleType):
    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - stands for anything
        if name.startswith("__"):
            raise AttributeError(name)
        return type(f"{self.__name__}.{name}", (_Name,), {})


class _Finder:
    """Comes after all others, so that it finds only what is not there."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        return ModuleSpec(name, _Finder, is_package=True) if name.startswith("relic_core.") else None  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        return _Absent(spec.name)

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Leave it as it is."""


def stand_in() -> None:
    """Let modules of the program that are not in this folder be imported as names that cannot be used."""
    sys.meta_path.append(_Finder)

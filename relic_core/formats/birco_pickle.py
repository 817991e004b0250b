"""BIRCO's pickles, read without ever loading one.

A pickle is a program: loading one may run anything. BIRCO publishes its data as pickles of dictionaries, lists, strings
and whole numbers, some of them numpy's. So this reader goes through the instructions, as `pickletools` lists them, and
follows only those that such data need. It imports nothing and calls nothing: the names of numpy's scalar and dtype, the
only ones admitted, are understood here as "the bytes of a string or a whole number", which are decoded by hand; any
other name, and any other instruction, ends the reading with the file untouched and nothing run.

A small file can also be made to grow without end, by naming one large thing many times. Instructions, bytes and decoded
bytes are therefore counted, and what comes out is bounded by the size of the file.
"""

from __future__ import annotations

import io
import pickletools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from relic_core.errors import BadBenchmark
from relic_core.formats.files import read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MAX_BYTES = 32 * 1024 * 1024
"""Larger files are not read: BIRCO's largest set has a few megabytes."""

MAX_STEPS = 2_000_000
"""Instructions that are followed; a passage with its id takes some ten."""

_PROTOCOL = 5
_ADMITTED = {
    ("numpy.core.multiarray", "scalar"): "scalar",
    ("numpy._core.multiarray", "scalar"): "scalar",
    ("numpy", "dtype"): "dtype",
}
_KIND = re.compile(r"U[0-9]{1,6}|[iu][1248]|b1")
_ORDERS = {"<": "little", ">": "big", "|": "little"}  # "|": single bytes, which have no order


class _Refused(Exception):
    """Why a file is refused; the reader adds the file and the place."""


@dataclass(slots=True)
class _Admitted:
    """One of the names that are admitted, not what it names."""

    name: str


@dataclass(slots=True)
class _Dtype:
    """A number format as the file spells it: "U9" and "<"."""

    kind: str
    order: str = "|"


def read_plain(path: Path) -> object:
    """Read a pickle of plain data.

    - `path`: a file of pickle protocol 2 to 5.

    Returns: dictionaries with keys of type str, lists, str, int, bool and None; numpy's strings and whole numbers have
    become those. One value may stand in several places, so the whole may be far larger, written out, than the file.

    Raises NotFound: there is no such file.
    Raises BadBenchmark: it is no pickle, cut short, too large, or asks for anything beyond such data.
    """
    data = read_bytes(path, at_most=MAX_BYTES)
    machine = _Machine(len(data))
    at = 0
    try:
        stream = io.BytesIO(data)
        for opcode, argument, position in pickletools.genops(stream):
            at = position or 0
            machine.follow(opcode.name, argument)
        return machine.result(rest=len(data) - stream.tell())
    except _Refused as error:
        what = str(error)
    except IndexError:
        what = "an instruction wants more than there is"
    except ValueError as error:  # pickletools: no pickle, or cut short
        what = str(error)
    raise BadBenchmark(
        f"{path} is refused, at byte {at:,} of {len(data):,}: {what:.300}. Of pickles only plain data are read "
        "(dictionaries, lists, strings, whole numbers, also numpy's), and nothing in them is ever run. Take the file "
        "from its publisher again, and do not load it by other means."
    )


class _Machine:
    """Follows the instructions of plain data; `size` bounds what may be decoded."""

    def __init__(self, size: int) -> None:
        self._stack: list[object] = []
        self._marks: list[int] = []
        self._memo: dict[int, object] = {}
        self._undecoded = size
        self._steps = 0
        self._instructions: dict[str, Callable[[object], None]] = {
            "PROTO": self._protocol,
            "FRAME": self._pass,
            "STOP": self._pass,
            "MARK": self._mark,
            "TUPLE": self._tuple,
            "TUPLE1": lambda _: self._tuple_of(1),
            "TUPLE2": lambda _: self._tuple_of(2),
            "TUPLE3": lambda _: self._tuple_of(3),
            "APPEND": self._append,
            "APPENDS": self._appends,
            "SETITEM": self._set_item,
            "SETITEMS": self._set_items,
            "MEMOIZE": self._memoize,
            "BINPUT": self._put,
            "LONG_BINPUT": self._put,
            "BINGET": self._get,
            "LONG_BINGET": self._get,
            "GLOBAL": self._global,
            "STACK_GLOBAL": self._stack_global,
            "REDUCE": self._reduce,
            "BUILD": self._build,
        }

    def follow(self, name: str, argument: object) -> None:
        """Follow one instruction.

        Raises _Refused, IndexError: it has no place in plain data.
        """
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise _Refused(f"it has more than {MAX_STEPS:,} instructions")
        if name in _PUSHED:
            self._stack.append(argument)
        elif name in _CONSTANTS:
            self._stack.append(_CONSTANTS[name]())
        elif name in self._instructions:
            self._instructions[name](argument)
        else:
            raise _Refused(f"the instruction {name} has no place in plain data")

    def result(self, rest: int) -> object:
        """Give what is left at the end, when `rest` bytes of the file were not read.

        Raises _Refused: that is not one value and the whole file.
        """
        if rest:
            raise _Refused(f"{rest:,} bytes follow behind its end")
        if len(self._stack) != 1 or self._marks:
            raise _Refused("it does not end with one value")
        return self._stack[0]

    def _protocol(self, argument: object) -> None:
        if not isinstance(argument, int) or argument > _PROTOCOL:
            raise _Refused(f"it is of protocol {argument}, and 2 to {_PROTOCOL} are read")

    def _pass(self, argument: object) -> None: ...

    def _mark(self, _: object) -> None:
        self._marks.append(len(self._stack))

    def _taken(self) -> list[object]:
        """Take what stands above the last mark."""
        start = self._marks.pop()
        taken = self._stack[start:]
        del self._stack[start:]
        return taken

    def _tuple(self, _: object) -> None:
        self._stack.append(tuple(self._taken()))

    def _tuple_of(self, count: int) -> None:
        if count > len(self._stack):
            raise IndexError
        taken = tuple(self._stack[-count:])
        del self._stack[-count:]
        self._stack.append(taken)

    def _append(self, _: object) -> None:
        self._extend([self._stack.pop()])

    def _appends(self, _: object) -> None:
        self._extend(self._taken())

    def _extend(self, values: list[object]) -> None:
        target = self._stack[-1]
        if not isinstance(target, list):
            raise _Refused("something is added to what is no list")
        target.extend(values)

    def _set_item(self, _: object) -> None:
        value = self._stack.pop()
        self._set([self._stack.pop(), value])

    def _set_items(self, _: object) -> None:
        self._set(self._taken())

    def _set(self, pairs: list[object]) -> None:
        target = self._stack[-1]
        if not isinstance(target, dict) or len(pairs) % 2:
            raise _Refused("keys and values are set on what is no dictionary")
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            if type(key) is not str:  # also: nothing whose hash would have to be computed in depth
                raise _Refused(f"a key is of the type {type(key).__name__}, and keys are strings")
            if key in target:
                raise _Refused(f"the key '{key:.80}' is set twice")
            target[key] = value

    def _memoize(self, _: object) -> None:
        self._memo[len(self._memo)] = self._stack[-1]

    def _put(self, argument: object) -> None:
        if not isinstance(argument, int) or argument > len(self._memo):
            raise _Refused("a place in its memory is skipped")
        self._memo[argument] = self._stack[-1]

    def _get(self, argument: object) -> None:
        if not isinstance(argument, int) or argument not in self._memo:
            raise _Refused("it recalls what it has not remembered")
        self._stack.append(self._memo[argument])

    def _global(self, argument: object) -> None:
        module, _, name = str(argument).partition(" ")
        self._name(module, name)

    def _stack_global(self, _: object) -> None:
        name, module = self._stack.pop(), self._stack.pop()
        self._name(module, name)

    def _name(self, module: object, name: object) -> None:
        admitted = _ADMITTED.get((module, name)) if isinstance(module, str) and isinstance(name, str) else None
        if admitted is None:
            asked = (
                f"{module:.60}.{name:.60}" if isinstance(module, str) and isinstance(name, str) else "what has no name"
            )
            raise _Refused(f"it asks for {asked}, a piece of program, which may do anything")
        self._stack.append(_Admitted(admitted))

    def _reduce(self, _: object) -> None:
        arguments, called = self._stack.pop(), self._stack.pop()
        if not isinstance(called, _Admitted) or not isinstance(arguments, tuple):
            raise _Refused("it calls what is not to be called")
        make = self._scalar if called.name == "scalar" else _dtype
        self._stack.append(make(arguments))

    def _scalar(self, arguments: tuple[object, ...]) -> str | int:
        """Decode a string or a whole number of numpy."""
        match arguments:
            case (_Dtype() as dtype, bytes() as raw):
                self._undecoded -= len(raw)
                if self._undecoded < 0:
                    raise _Refused("it unfolds to more than its own size")
                return _decoded(dtype, raw)
        raise _Refused("a scalar of numpy is not given as a dtype and bytes")

    def _build(self, _: object) -> None:
        """Give a dtype its order of bytes; (version, order, None, None, None, ...): no fields, no parts, no objects."""
        state, target = self._stack.pop(), self._stack[-1]
        match state:
            case (int(), str() as order, None, None, None, *rest) if (
                isinstance(target, _Dtype) and order in _ORDERS and all(type(each) is int for each in rest)
            ):
                target.order = order
            case _:
                raise _Refused("it sets the state of what is no plain dtype")


def _dtype(arguments: tuple[object, ...]) -> _Dtype:
    match arguments:
        case (str() as kind, *rest) if all(type(each) in {bool, int} for each in rest):
            if _KIND.fullmatch(kind):
                return _Dtype(kind)
            raise _Refused(f"it holds numpy's '{kind:.20}'; only strings and whole numbers are read")
    raise _Refused("a dtype of numpy is not given by its name")


def _decoded(dtype: _Dtype, raw: bytes) -> str | int:
    number = int(dtype.kind[1:])
    if len(raw) != (4 * number if dtype.kind[0] == "U" else number):
        raise _Refused(f"a scalar of numpy has {len(raw):,} bytes, which its '{dtype.kind}' has not")
    big = _ORDERS[dtype.order] == "big"
    if dtype.kind[0] == "U":
        return raw.decode("utf-32-be" if big else "utf-32-le").rstrip("\0")  # numpy fills up with zeros
    return int.from_bytes(raw, "big" if big else "little", signed=dtype.kind[0] == "i")


_NUMBERS = ("BININT", "BININT1", "BININT2", "LONG1")
_TEXTS = ("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8")
_BYTES = ("SHORT_BINBYTES", "BINBYTES", "BINBYTES8")
_PUSHED = frozenset((*_NUMBERS, *_TEXTS, *_BYTES))

_CONSTANTS: dict[str, Callable[[], object]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
}

"""Pickles made to harm: none runs, none grows without end, each is refused in words."""

from __future__ import annotations

import codecs
import contextlib
import pickle
import pickletools
import struct
import sys
import time
import tracemalloc

import numpy as np
import pytest

from relic_core.errors import BadBenchmark, NotFound
from relic_core.formats import birco_pickle
from relic_core.formats.birco import read_pickle
from relic_core.formats.birco_pickle import read_plain
from relic_core.formats.birco_rankings import read_rankings

_events: list[str] = []
_watching = False


def _watch(event, arguments):
    if _watching and event in {"pickle.find_class", "import", "exec", "os.system", "subprocess.Popen"}:
        _events.append(event)


sys.addaudithook(_watch)

# Python imports a codec when it is first used: those of pickles' strings and of JSON are no fault of any file.
for codec in ("ascii", "latin-1", "raw-unicode-escape", "unicode-escape", "utf-8", "utf-8-sig"):
    codecs.lookup(codec)
for codec in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"):
    codecs.lookup(codec)


@contextlib.contextmanager
def _nothing_runs():
    """Fail where anything is imported, looked up or run by name meanwhile."""
    global _watching  # noqa: PLW0603 - a hook cannot be taken away again
    _events.clear()
    _watching = True
    try:
        yield
    finally:
        _watching = False
    assert _events == []


def _file(tmp_path, raw):
    path = tmp_path / "test_set.pickle"
    path.write_bytes(raw)
    return path


def _refused(path, read=read_plain):
    with _nothing_runs(), pytest.raises(BadBenchmark) as caught:
        read(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


class _Writes:
    """When a pickle of it is loaded, a file appears."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return eval, (f"open({str(self.path)!r}, 'w').close()",)


class _Calls:
    def __init__(self, function, *arguments):
        self.made = function, arguments

    def __reduce__(self):
        return self.made


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize(
    "place",
    [
        lambda bomb: bomb,
        lambda bomb: {"query": {"q1": bomb}, "corpus": {}, "qrel": {}},
        lambda bomb: {"query": {}, "corpus": {}, "qrel": {"q1": {"c1": [[(bomb,)]]}}},
        lambda bomb: [np.str_("honest"), np.int64(1), bomb],
    ],
)
def test_a_pickle_that_would_write_a_file_is_refused_and_writes_none(tmp_path, place, protocol):
    victim = tmp_path / "written"
    path = _file(tmp_path, pickle.dumps(place(_Writes(victim)), protocol=protocol))
    before = path.read_bytes()
    for read in (read_plain, read_pickle, read_rankings):
        _refused(path, read)
    assert not victim.exists()
    assert path.read_bytes() == before


def test_the_pickle_of_that_test_does_write_a_file_where_it_is_loaded(tmp_path):
    victim = tmp_path / "written"
    pickle.loads(pickle.dumps(_Writes(victim)))  # noqa: S301 - made above; shows that the test above can fail
    assert victim.exists()


@pytest.mark.parametrize(
    ("called", "name"),
    [
        (_Calls(__import__("os").system, "true"), "posix.system"),
        (_Calls(exec, "1"), "builtins.exec"),
        (_Calls(getattr, "x", "y"), "builtins.getattr"),
        (_Calls(__import__, "os"), "builtins.__import__"),
        (_Calls(np.load, "x"), "numpy.load"),
        (np.zeros(3), "_reconstruct"),
        (np.array(["a"]), "_reconstruct"),
        ({1, 2}, "EMPTY_SET"),
        (1.5, "BINFLOAT"),
        (1j, "builtins.complex"),
        (slice(1), "builtins.slice"),
    ],
)
def test_what_asks_for_more_than_plain_data_is_refused_by_name(tmp_path, called, name):
    message = _refused(_file(tmp_path, pickle.dumps({"query": called})))
    assert name in message
    assert "nothing in them is ever run" in message


def _text(value):
    raw = value.encode()
    return b"\x8c" + bytes([len(raw)]) + raw


def _global(module, name):
    return _text(module) + _text(name) + b"\x93"


DTYPE = _global("numpy", "dtype")
SCALAR = _global("numpy._core.multiarray", "scalar")
START = b"\x80\x04"


@pytest.mark.parametrize(
    ("instructions", "what"),
    [
        # dtypes of objects, fields, sub-arrays and dates, whose states numpy follows in C
        (DTYPE + _text("O8") + b"\x89\x88\x87R", "numpy's 'O8'"),
        (DTYPE + _text("V16") + b"\x89\x88\x87R", "numpy's 'V16'"),
        (DTYPE + _text("M8") + b"\x89\x88\x87R", "numpy's 'M8'"),
        (DTYPE + _text("U9999999") + b"\x89\x88\x87R", "numpy's 'U9999999'"),
        (DTYPE + b"(" + _text("U1") + _text("x") + b"tR", "not given by its name"),
        (DTYPE + b")R", "not given by its name"),
        (DTYPE + _text("U1") + b"\x85R" + b"(K\x03" + _text("<") + b"N" + b"(tNNtb", "no plain dtype"),
        (DTYPE + _text("U1") + b"\x85R" + b"(K\x03" + _text("=") + b"NNNtb", "no plain dtype"),
        (DTYPE + _text("U1") + b"\x85R" + b"}b", "no plain dtype"),
        *[
            (DTYPE + _text("U1") + b"\x85R" + b"(K\x03" + _text("<") + parts + b"K\x04tb", "no plain dtype")
            for parts in (b")NN", b"N)N", b"NN)")
        ],
        # names that are used as what they are not
        (DTYPE + b"}b", "no plain dtype"),
        (SCALAR + b"(K\x03" + _text("<") + b"NNNtb", "no plain dtype"),
        (SCALAR + b"]b", "no plain dtype"),
        (SCALAR + _text("U1") + b"C\x00\x86R", "not given as a dtype and bytes"),
        (SCALAR + DTYPE + b"C\x00\x86R", "not given as a dtype and bytes"),
        (SCALAR + b"]R", "not to be called"),
        (b"]" + b")R", "not to be called"),
        (_text("os") + b")R", "not to be called"),
        (SCALAR + DTYPE + _text("U2") + b"\x85R" + b"C\x04abcd\x86R", "has 4 bytes"),
        (SCALAR + DTYPE + _text("i8") + b"\x85R" + b"C\x04abcd\x86R", "has 4 bytes"),
        (SCALAR + DTYPE + _text("U1") + b"\x85R" + b"C\x04\xff\xff\xff\xff\x86R", "utf-32"),
        # names of other modules, of pieces of the admitted ones, and what is no name
        (_global("numpy", "dtype.type"), "numpy.dtype.type"),
        (_global("numpy.core.multiarray", "scalar.__class__"), "scalar.__class__"),
        (_global("numpy.core.multiarray", "_reconstruct"), "_reconstruct"),
        (_global("numpy._core.multiarray", "fromfile"), "fromfile"),
        (_global("numpy.dtype", ""), "numpy.dtype."),
        (b"]" + b"]" + b"\x93", "what has no name"),
        (b"cos\nsystem\n", "os.system"),
        (b"cnumpy\ndtype\n)\x81", "NEWOBJ"),
        (b"cnumpy\ndtype\n)}\x92", "NEWOBJ_EX"),
        (b"(inumpy\ndtype\n", "INST"),
        (b"(cnumpy\ndtype\no", "OBJ"),
        (b"\x82\x01", "EXT1"),
        (b"Pabc\n", "PERSID"),
        (b"K\x01Q", "BINPERSID"),
        (b"\x96\x01\x00\x00\x00\x00\x00\x00\x00a", "BYTEARRAY8"),
        # damaged on purpose
        (b"K\x01K\x02", "does not end with one value"),
        (b"(K\x01", "does not end with one value"),
        (b"", "does not end with one value"),
        (b"a", "wants more than there is"),
        (b"t", "wants more than there is"),
        (b"\x87", "wants more than there is"),
        (b"K\x01K\x02a", "no list"),
        (b"](K\x01u", "no dictionary"),
        (b"}(K\x01u", "no dictionary"),
        (b"}K\x01K\x01s", "keys are strings"),
        (b"})K\x01s", "keys are strings"),
        (b"}" + (_text("a") + b"K\x01s") * 2, "'a' is set twice"),
        (b"h\x05", "has not remembered"),
        (b"]r\xff\xff\xff\x7f", "a place in its memory is skipped"),
        (b"]q\x01", "a place in its memory is skipped"),
    ],
)
def test_a_pickle_written_by_hand_is_refused(tmp_path, instructions, what):
    assert what in _refused(_file(tmp_path, START + instructions + b"."))


@pytest.mark.parametrize("name", [DTYPE, SCALAR])
def test_an_admitted_name_alone_is_no_set(tmp_path, name):
    assert "must be a JSON object" in _refused(_file(tmp_path, START + name + b"."), read_pickle)


@pytest.mark.parametrize(
    ("raw", "what"),
    [
        (b"", "pickle exhausted"),
        (b"\x80\x04}", "pickle exhausted"),
        (b"not a pickle", "refused"),
        (b"\x80\x09}.", "protocol 9"),
        (b"\x80\x04}.junk", "4 bytes follow behind its end"),
        (b"\x80\x04X\xff\xff\xff\x7fabc.", "refused"),
        (b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xffabc.", "refused"),
        (b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7fabc.", "refused"),
    ],
)
def test_what_is_no_whole_pickle_is_refused(tmp_path, raw, what):
    assert what in _refused(_file(tmp_path, raw))


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(NotFound, match=r"test_set\.pickle"):
        read_plain(tmp_path / "test_set.pickle")


def test_every_cut_of_an_honest_file_is_refused(tmp_path):
    raw = pickle.dumps({"query": {np.str_("é"): "x"}, "qrel": {"q": {"c": np.int64(1)}}})
    for end in range(len(raw)):
        _refused(_file(tmp_path, raw[:end]))


@pytest.mark.parametrize("protocol", [3, 4, 5])
@pytest.mark.parametrize(
    "value",
    [
        {np.str_("q_1"): [np.str_("c\u00e9\U0001f4d6"), np.str_(""), "plain"]},
        [np.int64(-5), np.int8(-1), np.uint8(255), np.uint64(2**64 - 1), np.int32(7), 0, 70_000, -(2**40)],
        [np.bool_(True), True, None, [], {}],
        {"a" * 300: ["b" * 70_000]},
    ],
)
def test_honest_data_come_out_as_plain_types(tmp_path, value, protocol):
    read = read_plain(_file(tmp_path, pickle.dumps(value, protocol=protocol)))
    assert read == value
    flat = [*read, *next(iter(read.values()))] if isinstance(read, dict) else read
    assert {type(each) for each in flat} <= {str, int, bool, type(None), list, dict}


def test_the_order_of_bytes_that_a_dtype_says_is_followed(tmp_path):
    scalars = [np.array(["naïve"], dtype=">U5")[0], np.array([513], dtype=">i4")[0]]
    assert read_plain(_file(tmp_path, pickle.dumps(scalars))) == ["naïve", 513]
    big = b"(K\x03" + _text(">") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    written = SCALAR + DTYPE + _text("i4") + b"\x89\x88\x87R" + big + b"C\x04\x00\x00\x02\x01\x86R"
    assert read_plain(_file(tmp_path, START + written + b".")) == 513
    text = SCALAR + DTYPE + _text("U2") + b"\x89\x88\x87R" + big + b"C\x08" + "né".encode("utf-32-be") + b"\x86R"
    assert read_plain(_file(tmp_path, START + text + b".")) == "né"


def test_numpys_older_name_of_its_scalar_is_admitted(tmp_path):
    raw = pickle.dumps(np.str_("abc"), protocol=3).replace(b"numpy._core.multiarray", b"numpy.core.multiarray")
    assert read_plain(_file(tmp_path, raw)) == "abc"


# Bombs: what unfolds, and what makes an honest loader's memory grow.


def _measured(path, read):
    tracemalloc.start()
    began = time.monotonic()
    with pytest.raises(BadBenchmark):
        read(path)
    took, (_, peak) = time.monotonic() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return took, peak


def test_one_long_string_decoded_again_and_again_is_stopped(tmp_path):
    raw = b"\x00" * 4 * 200_000
    remembered = b"B" + struct.pack("<I", len(raw)) + raw + b"\x94"
    dtype = DTYPE + _text("U200000") + b"\x85R\x94"
    path = _file(tmp_path, START + b"](" + remembered + dtype + (SCALAR + b"h\x01h\x00\x86R") * 5000 + b"e.")
    took, peak = _measured(path, read_plain)
    assert "more than its own size" in _refused(path)
    assert took < 20
    assert peak < 50_000_000


@pytest.mark.parametrize("what", ["text", "pool"])
def test_one_large_thing_named_many_times_is_stopped(tmp_path, what):
    large = "x" * 1_000_000 if what == "text" else {f"c{number}": 0 for number in range(6_000)}
    many = {f"q{number}": large for number in range(6_000)}
    key = "query" if what == "text" else "qrel"
    data = {"query": {}, "corpus": {}, "qrel": {}} | {key: many}
    if what == "pool":
        data["query"] = {f"q{number}": "[masked sentence(s)]" for number in range(6_000)}
        data["corpus"] = {f"c{number}": "x" for number in range(6_000)}
        large["c0"] = 1
    path = _file(tmp_path, pickle.dumps(data))
    took, peak = _measured(path, read_pickle)
    assert took < 30
    assert peak < 200_000_000
    with pytest.raises(BadBenchmark, match="unfolds to more than"):
        read_pickle(path)


def test_one_long_id_ranked_many_times_is_stopped(tmp_path):
    path = _file(tmp_path, pickle.dumps({"q1": ["x" * 1_000_000] * 100_000}))
    took, peak = _measured(path, read_rankings)
    assert took < 20
    assert peak < 50_000_000


def test_nesting_without_end_harms_nothing(tmp_path):
    deep = b"]" * 100_000 + b"a" * 99_999
    with pytest.raises(BadBenchmark, match="must be a JSON object, and is a list"):
        read_pickle(_file(tmp_path, START + deep + b"."))
    tuples = b")" + b"\x85" * 100_000
    assert "keys are strings" in _refused(_file(tmp_path, START + b"}" + tuples + b"Ns."))


def test_too_many_instructions_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(birco_pickle, "MAX_STEPS", 1000)
    assert "more than 1,000 instructions" in _refused(_file(tmp_path, START + b"(" + b"N" * 1000 + b"t."))


def test_too_large_a_file_is_not_read_at_all(tmp_path, monkeypatch):
    path = tmp_path / "test_set.pickle"
    with path.open("wb") as file:
        file.truncate(birco_pickle.MAX_BYTES + 1)
    monkeypatch.setattr(type(path), "read_bytes", lambda _: pytest.fail("read"))
    assert "at most" in _refused(path)


def test_every_instruction_beyond_those_of_plain_data_is_refused():
    known = {"PROTO", "FRAME", "STOP", "MARK", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "APPEND", "APPENDS", "SETITEM",
             "SETITEMS", "MEMOIZE", "BINPUT", "LONG_BINPUT", "BINGET", "LONG_BINGET", "GLOBAL", "STACK_GLOBAL",
             "REDUCE", "BUILD", "NONE", "NEWTRUE", "NEWFALSE", "EMPTY_DICT", "EMPTY_LIST", "EMPTY_TUPLE", "BININT",
             "BININT1", "BININT2", "LONG1", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "SHORT_BINBYTES",
             "BINBYTES", "BINBYTES8"}  # fmt: skip
    machine = birco_pickle._Machine(100)
    for opcode in pickletools.opcodes:
        if opcode.name not in known:
            with pytest.raises(birco_pickle._Refused, match=f"the instruction {opcode.name} has no place"):
                machine.follow(opcode.name, None)

"""Tables of the documentation that commands write: each stands between two marks of its page."""

from __future__ import annotations

from pathlib import Path

from relic_core.errors import BadRequest
from relic_core.formats.files import read_text, written_whole


def marks(name: str) -> tuple[str, str]:
    """Give the lines between which a table stands.

    >>> marks("bench")
    ('<!-- bench -->', '<!-- /bench -->')
    """
    return f"<!-- {name} -->", f"<!-- /{name} -->"


def put_between(path: Path, name: str, text: str) -> bool:
    """Put a text between the marks of a page; True where that changed something.

    Raises BadRequest: the marks are not in it, each once and in this order.
    """
    begin, end = marks(name)
    old = read_text(path)
    before, begun, rest = old.partition(begin)
    _, ended, after = rest.partition(end)
    if not (begun and ended) or old.count(begin) != 1 or old.count(end) != 1:
        raise BadRequest(f"{path} must hold the lines {begin} and {end}, each once and in this order.")
    new = f"{before}{begin}\n\n{text}\n\n{end}{after}"
    if new != old:
        with written_whole(path) as file:
            file.write(new.encode())
    return new != old


def write_between(path: Path, name: str, text: str) -> None:
    """Put a text between the marks of a page, and say whether it changed; raises as `put_between`."""
    print(f"{path} {'has been written' if put_between(path, name, text) else 'is as it should be'}.")

"""HTML from templates, which are beside the room that shows them: every value is escaped, unless it is `Markup`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from relic_ui.buttons import button
from relic_ui.links import cite_link, link
from relic_ui.naming import inside, listed, many, shorten
from relic_ui.passages import passage_html
from relic_ui.style import hue

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    auto_reload=False,  # as the code beside them
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.globals |= {
    each.__name__: each for each in (button, cite_link, hue, inside, link, listed, many, passage_html, shorten)
}


def render(name: str, /, **values: Any) -> Markup:  # noqa: ANN401 - whatever the template shows
    """Fill a template, named by its path in this package."""
    return Markup(_TEMPLATES.get_template(name).render(values))  # noqa: S704 - the template has escaped the values

"""The templates of pages, and what fills them in: every value is escaped."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING

from onnxpad.errors import RuntimeUnavailable

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_MISSING = (
    "pages with pictures are made with jinja2, which is not installed\n  try     pip install jinja2"
)


def check_installed() -> None:
    """RuntimeUnavailable where what makes pages is not installed; nothing of it is loaded."""
    if find_spec("jinja2") is None:
        raise RuntimeUnavailable(_MISSING)


def rendered(template: str, **values: object) -> str:
    """A template filled in; RuntimeUnavailable where jinja2 is not installed."""
    return environment().get_template(template).render(**values)


@cache
def environment() -> Environment:
    """What renders; RuntimeUnavailable where jinja2 is not installed."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise RuntimeUnavailable(_MISSING) from error
    made = Environment(
        loader=PackageLoader(__package__, ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["breakable"] = _breakable
    made.filters["options"] = _with_options
    made.filters["typed"] = typed
    return made


def _breakable(name: str) -> Markup:
    """A name as HTML that is broken between its parts, where it is too long for a line."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"([/_.]+)(?=\w)", r"\1<wbr>", str(escape(name))))  # noqa: S704 - escaped


def _with_options(text: str) -> Markup:
    """A sentence as HTML, in which '--target' is not broken behind its dashes."""
    from markupsafe import Markup, escape

    found = re.sub(
        r"(?<![\w-])(--[a-z][a-z-]*)", r'<code class="option">\1</code>', str(escape(text))
    )
    return Markup(found)  # noqa: S704 - escaped


def typed(text: str) -> Markup:
    """What is typed as HTML, which is broken at its spaces alone: words with dashes stay whole."""
    from markupsafe import Markup, escape

    found = re.sub(r"[^\s-]*-\S*", r'<span class="option">\g<0></span>', str(escape(text)))
    return Markup(found)  # noqa: S704 - escaped


def text_of(name: str) -> str:
    """A file beside the templates, as it stands: styles and scripts."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")

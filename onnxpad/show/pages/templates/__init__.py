"""The templates of pages, and what fills them in: every value is escaped."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING

from onnxpad.errors import RuntimeUnavailable
from onnxpad.show.wording import visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def check_installed() -> None:
    """RuntimeUnavailable where what makes pages is not installed; nothing of it is loaded."""
    if find_spec("jinja2") is None:
        raise RuntimeUnavailable(
            "pages with pictures are made with jinja2, which is not installed\n"
            "  try     pip install jinja2"
        )


def rendered(template: str, **values: object) -> str:
    """A template filled in, of a report or of the site."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    """What renders; RuntimeUnavailable where jinja2 is not installed."""
    check_installed()
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader(__name__, ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    made.filters |= {"lines": _escaped, "code": _with_code}
    return made


def _escaped(text: str) -> Markup:
    """A text of several lines."""
    from markupsafe import Markup, escape

    return Markup("\n").join(escape(visible(line)) for line in text.split("\n"))


def _with_code(text: str) -> Markup:
    """A sentence with what stands between backticks as code."""
    from markupsafe import Markup

    parts = [_escaped(part) for part in text.split("`")]
    shown = (Markup("<code>{}</code>").format(p) if n % 2 else p for n, p in enumerate(parts))
    return Markup("").join(shown) if len(parts) % 2 else _escaped(text)


def text_of(name: str) -> str:
    """A file beside the templates, as it stands: styles and scripts."""
    return files(__name__).joinpath(name).read_text(encoding="utf-8")

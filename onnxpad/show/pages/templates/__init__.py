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
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    folders = (__package__, "onnxpad.show.site.templates")
    made = Environment(
        loader=ChoiceLoader([PackageLoader(folder, "") for folder in folders]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"breakable": _breakable, "typed": _typed, "code": _with_code}
    return made


def _marked(pattern: str, replacement: str, text: str) -> Markup:
    """The text as HTML, with what the pattern finds in it marked."""
    from markupsafe import Markup, escape

    return Markup(re.sub(pattern, replacement, str(escape(text))))  # noqa: S704 - escaped


def _breakable(name: str) -> Markup:
    """A name that is broken between its parts, where it is too long for a line."""
    return _marked(r"([/_.]+)(?=\w)", r"\1<wbr>", name)


def _typed(text: str) -> Markup:
    """A sentence or command, in which '--target' is not broken behind its dashes."""
    return _marked(r"(?<![\w-])(--[a-z][a-z-]*)", r'<span class="option">\1</span>', text)


def _with_code(text: str) -> Markup:
    """A sentence with what stands between backticks as code."""
    return _marked(r"`([^`]+)`", r"<code>\1</code>", text)


def text_of(name: str, package: str = __name__) -> str:
    """A file beside the templates, as it stands: styles and scripts."""
    return files(package).joinpath(name).read_text(encoding="utf-8")

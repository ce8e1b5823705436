"""Rewritings as pages: what was written in another form, and what was left and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from onnxpad.errors import OnnxpadError, either
from onnxpad.inspection import with_far_pad
from onnxpad.model.editing.script import FixSize, InsertNode
from onnxpad.model.opened import Model
from onnxpad.model.reading.survey import Site, Survey
from onnxpad.padding.chain import Chain
from onnxpad.padding.expansion import Expansion, Itself, Step
from onnxpad.retargeting.labels import label_of
from onnxpad.rewriting.pipeline import Change
from onnxpad.rewriting.rewrite import Rewriting
from onnxpad.show.pages.changes import Changed, changes_section
from onnxpad.show.pages.page import Page, Section, Table
from onnxpad.show.rewritings import changes_text, rewriting_text, taken_text
from onnxpad.show.validations import STATES, validation_sections
from onnxpad.show.verdicts import way_text
from onnxpad.show.wording import visible

if TYPE_CHECKING:
    from onnxpad.validation import Validation

_SKIPS = ("node", "operator", "pass", "why it is as it was", "try")
_IN_TABLES = ("skip: ", "no way: ", "  ")
_UNFIT = ("node", "operator", "verdict", "why", "nearest way")


def rewriting_page(
    model: str, written: str | None, found: Rewriting, compared: Validation | None, objection: str
) -> Page:
    """The page about one model; `objection` is why nothing was written."""
    text = rewriting_text(model, written, found, compared, refused=bool(objection))
    skips = tuple(
        tuple(
            map(
                visible, (one.node.label, one.op, one.rule, one.skip.reason, either(one.skip.hints))
            )
        )
        for one in found.skips
    )
    unfit = found.fitting.no_way if found.fitting else ()
    rows = tuple(
        tuple(
            map(
                visible,
                (o.node.label, o.op, str(o.judgement.answer), o.judgement.why, way_text(o)),
            )
        )
        for o in unfit
    )
    return Page(
        "Rewriting of",
        visible(model),
        *_verdict(found, compared, objection, done=written is not None),
        tuple(_lines(text)),
        tuple(_commands(model, written, compared)),
        (
            changes_section(lambda: _changes(found)),
            Section(
                "unfit",
                "No way",
                table=Table(f"nodes that {found.target} does not take", _UNFIT, rows),
            ),
            Section("skips", "Left as they were", table=Table("skipped nodes", _SKIPS, skips)),
            *(() if compared is None else validation_sections(compared)),
        ),
    )


def _verdict(
    found: Rewriting, compared: Validation | None, objection: str, *, done: bool
) -> tuple[str, str]:
    if objection:
        return "wrong", visible(f"nothing was written: {objection}")
    said = "; ".join(filter(None, (changes_text(found, done=done), taken_text(found))))
    if compared is not None:
        return STATES[compared.verdict], f"{said}; {compared.verdict}"
    return "open" if found.skips else "fine", said


def _commands(model: str, written: str | None, compared: Validation | None) -> Iterator[str]:
    from shlex import join

    if written and compared is None and "-" not in (model, written) and model != written:
        yield visible(join(["onnxpad", "validate", model, written]))


def _changes(found: Rewriting) -> Iterator[Changed]:
    sites = _sites(found)
    for one in found.changes:
        last = ""
        if isinstance(one.after, Chain):
            after, is_now = one.after, label_of(one.after)
        else:
            after, is_now = None, _steps(one)
            if site := _last(one, sites):
                after, last = site.chain, site.address.label
        yield Changed(
            one.node.label,
            one.op,
            one.rule,
            label_of(one.before),
            is_now,
            with_far_pad(one.before),
            None if after is None else with_far_pad(after),
            last,
        )


def _sites(found: Rewriting) -> Sequence[Site]:
    """What pads in the model as it is now, where several nodes took the place of one."""
    several = any(isinstance(one.after, Expansion) for one in found.changes)
    if not several or not isinstance(found.edited, Model):
        return ()
    fixed = {edit.dimension for edit in found.script if isinstance(edit, FixSize)}
    dims = {name: fact for name, fact in found.assumed.items() if name not in fixed}
    folder = found.source.folder if found.source else None
    try:
        return Survey(found.edited, dims=dims, folder=folder, thorough=True).sites_now()
    except OnnxpadError:  # then no picture shows it
        return ()


def _last(change: Change, sites: Sequence[Site]) -> Site | None:
    """The last of the nodes in the place of one that pads or has windows."""
    made = {edit.name for edit in change.edits if isinstance(edit, InsertNode)}
    mine = [
        site
        for site in sites
        if site.address.scope == change.node.scope
        and site.address.label in {change.node.label, *made}
    ]
    return mine[-1] if mine else None


_SHOWN = ("kernel_shape", "strides", "dilations", "pads")


def _steps(change: Change) -> str:
    """'Slice, then Conv with pads [0, 0]': what each gets, and keeps where nothing is said."""
    steps = change.after.steps if isinstance(change.after, Expansion) else ()
    return ", then ".join(_step(change, one) for one in steps)


def _step(change: Change, one: Step | Itself) -> str:
    name, written = (
        (change.op, one.sets) if isinstance(one, Itself) else (one.op_type, one.attributes)
    )
    given = {key: value for key, value in written if isinstance(value, tuple)}
    parts = [f"{key} {list(given[key])}" for key in _SHOWN if key in given]
    return f"{name} with {', '.join(parts)}" if parts else name


def _lines(text: str) -> Iterator[str]:
    """What the text says beside what stands in tables."""
    for line in text.splitlines():
        if line.strip() and not line.startswith(_IN_TABLES):
            yield line

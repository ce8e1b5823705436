"""Rewritings as pages: what was written in another form, and what was left and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from onnxpad.inspection import with_far_pad
from onnxpad.padding.chain import Chain
from onnxpad.padding.expansion import Expansion, Itself, Step
from onnxpad.retargeting.labels import label_of
from onnxpad.rewriting.pipeline import Change
from onnxpad.rewriting.rewrite import Rewriting
from onnxpad.show.pages.changes import Changed, changes_section
from onnxpad.show.pages.page import Page, Section, Table
from onnxpad.show.pages.validations import STATES, validation_sections
from onnxpad.show.rewritings import changes_text, rewriting_text
from onnxpad.show.verdicts import way_text
from onnxpad.show.wording import either, visible

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
                (o.node.label, o.op, str(o.judgement.answer), o.judgement.sentence, way_text(o)),
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
            changes_section(_changes(found)),
            Section(
                "unfit",
                "No way",
                table=Table(f"nodes that {found.target} does not take", _UNFIT, rows),
            ),
            Section("skips", "Left as they were", table=Table("skipped nodes", _SKIPS, skips)),
            *(validation_sections(compared) if compared else ()),
        ),
    )


def _verdict(
    found: Rewriting, compared: Validation | None, objection: str, *, done: bool
) -> tuple[str, str]:
    if objection:
        return "wrong", visible(f"nothing was written: {objection}")
    said = changes_text(found, done=done)
    if compared is not None:
        return STATES[compared.verdict], f"{said}; {compared.verdict}"
    return "open" if found.skips else "fine", said


def _commands(model: str, written: str | None, compared: Validation | None) -> Iterator[str]:
    from shlex import join

    if written and compared is None and "-" not in (model, written) and model != written:
        yield visible(join(["onnxpad", "validate", model, written]))


def _changes(found: Rewriting) -> Iterator[Changed]:
    for one in found.changes:
        after = one.after if isinstance(one.after, Chain) else None
        yield Changed(
            one.node.label,
            one.op,
            one.rule,
            label_of(one.before),
            label_of(after) if after is not None else _steps(one),
            with_far_pad(one.before),
            None if after is None else with_far_pad(after),
        )


_SHOWN = ("kernel_shape", "strides", "dilations", "pads")


def _steps(change: Change) -> str:
    """'Slice, then Conv with pads 0,0,0,0': what each gets, and keeps where nothing is said."""
    steps = change.after.steps if isinstance(change.after, Expansion) else ()
    return ", then ".join(_step(change, one) for one in steps)


def _step(change: Change, one: Step | Itself) -> str:
    name, written = (
        (change.op, one.sets) if isinstance(one, Itself) else (one.op_type, one.attributes)
    )
    given = {key: value for key, value in written if isinstance(value, tuple)}
    parts = [f"{key} {','.join(map(str, given[key]))}" for key in _SHOWN if key in given]
    return f"{name} with {', '.join(parts)}" if parts else name


def _lines(text: str) -> Iterator[str]:
    """What the text says beside what stands in tables."""
    for line in text.splitlines():
        if line.strip() and not line.startswith(_IN_TABLES):
            yield line

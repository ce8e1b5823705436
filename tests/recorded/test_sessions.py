"""What people see: every session is answered as it is recorded, or recorded with --record."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recorded.sessions import SESSIONS, replayed


@pytest.mark.parametrize("session", SESSIONS, ids=lambda path: path.stem)
def test_sessions_are_answered_as_recorded(
    session: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    answered = replayed(session, tmp_path, capsys)
    if request.config.getoption("--record"):
        session.write_text(answered, encoding="utf-8")
    assert answered.splitlines() == session.read_text(encoding="utf-8").splitlines()

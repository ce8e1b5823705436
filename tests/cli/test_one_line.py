"""What is said to a person is lines: a line break in a sentence would be printed as its escape."""

from __future__ import annotations


def test_the_first_line_of_what_an_exception_says() -> None:
    from onnxpad.errors import headline

    assert headline(ValueError("\n one: two \n  try     three")) == "one: two"
    assert headline(ValueError()) == "ValueError"

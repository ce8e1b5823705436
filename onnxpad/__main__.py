"""`python -m onnxpad`."""

from onnxpad.cli import main

main()

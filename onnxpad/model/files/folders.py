"""Folders of several files that belong together, written all or nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from onnxpad.errors import RequestError
from onnxpad.model.files.atomic import Together
from onnxpad.model.files.contents import AnyPath, explained, is_standard


def refuse_folder(folder: AnyPath, names: Collection[str] | None = None) -> None:
    """Refuse what is no folder, and one that holds anything but files of these names.

    Asked for before there is work to lose; without `names`, what it holds is not looked at.

    Raises RequestError with the first file that is in the way.
    """
    if is_standard(folder):
        raise RequestError("several files do not fit into standard output: name a folder")
    target = Path(folder)
    with explained(f"cannot read the folder '{folder}'"):
        if target.exists() and not target.is_dir():
            raise RequestError(f"'{folder}' is a file: name a folder, or remove it")
        found = sorted(target.rglob("*")) if names is not None and target.is_dir() else []
        for path in found:
            if not path.is_dir() and path.relative_to(target).as_posix() not in (names or ()):
                raise RequestError(
                    f"'{folder}' holds '{path.relative_to(target)}', which is not written here: "
                    "name a new folder, or remove it"
                )


def write_folder(folder: AnyPath, files: Mapping[str, bytes]) -> None:
    """Write files by their names in a folder, which is made where there is none.

    Files of these names are replaced. Raises RequestError where the folder holds another one, and
    ModelError where one cannot be written.
    """
    refuse_folder(folder, files)
    with Together() as together:
        for name, content in files.items():
            target = Path(folder) / name
            together.make_folders(target.parent.absolute())
            with together.create(target.absolute(), replace=True) as file:
                file.write(content)
        together.commit()

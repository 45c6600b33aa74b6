"""The one writer of outputs: writes what changed, removes what nothing makes any more.

MANIFEST lists every file that the generator made, so that a file left over from an earlier run is
known as ours and is removed, and any other file is reported and left alone. Paths begin with the
name of the package's folder (`generated/`, `mathx/`), for which any folder on disk may stand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Mapping

MANIFEST = "MANIFEST"


@dataclass
class Changes:
    """How the files on disk differ from what was rendered."""

    changed: list[str] = field(default_factory=list)  # other bytes than rendered
    missing: list[str] = field(default_factory=list)  # rendered, not on disk
    stale: list[str] = field(default_factory=list)  # made by an earlier run, by nothing now
    foreign: list[str] = field(default_factory=list)  # made by nothing, ever

    def __bool__(self) -> bool:
        return bool(self.changed or self.missing or self.stale or self.foreign)


def with_manifest(outputs: Mapping[str, str], root: str = "generated") -> dict[str, str]:
    lines = ["# The files that the code generator makes, one a line. Generated; do not edit."]
    lines += sorted(outputs)
    return {**outputs, f"{root}/{MANIFEST}": "\n".join(lines) + "\n"}


def compare(folder: Path, outputs: Mapping[str, str], root: str = "generated") -> Changes:
    """What `write` would do. `outputs` maps paths, which begin with `root`, to the files' text;
    `folder` stands for `root`."""
    for path in outputs:
        if not path.startswith(f"{root}/") or ".." in path.split("/"):
            raise ValueError(f"{path}: outputs lie below {root}/")
    wanted = with_manifest(outputs, root)
    changes = Changes()
    for path in sorted(wanted):
        file = _file(folder, path, root)
        if not file.is_file():
            changes.missing.append(path)
        elif file.read_bytes() != wanted[path].encode():
            changes.changed.append(path)
    ours = _manifest(folder)
    on_disk = sorted(p for p in folder.rglob("*") if p.is_file()) if folder.is_dir() else []
    for file in on_disk:
        path = f"{root}/{file.relative_to(folder).as_posix()}"
        if path not in wanted and "__pycache__" not in file.parts:
            (changes.stale if path in ours else changes.foreign).append(path)
    return changes


def write(folder: Path, outputs: Mapping[str, str], root: str = "generated") -> Changes:
    """Makes `folder` hold exactly `outputs`. Files that did not change keep their time stamps."""
    changes = compare(folder, outputs, root)
    wanted = with_manifest(outputs, root)
    for path in [*changes.missing, *changes.changed]:
        file = _file(folder, path, root)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(wanted[path].encode())
    for path in changes.stale:
        file = _file(folder, path, root)
        file.unlink()
        for parent in file.parents:
            if parent == folder or any(parent.iterdir()):
                break
            parent.rmdir()
    return changes


def _file(folder: Path, path: str, root: str) -> Path:
    return folder / path.removeprefix(f"{root}/")


def _manifest(folder: Path) -> set[str]:
    file = folder / MANIFEST
    if not file.is_file():
        return set()
    lines = file.read_text().splitlines()
    return {line for line in lines if line and not line.startswith("#")}

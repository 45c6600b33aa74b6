"""The one writer of generated/: writes what changed, removes what nothing makes any more.

generated/MANIFEST lists every file that the generator made, so that a file left over from an
earlier run is known as ours and is removed, and any other file is reported and left alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Mapping

MANIFEST = "generated/MANIFEST"
_PREFIX = "generated/"


@dataclass
class Changes:
    """How the files on disk differ from what was rendered; paths begin with generated/."""

    changed: list[str] = field(default_factory=list)  # other bytes than rendered
    missing: list[str] = field(default_factory=list)  # rendered, not on disk
    stale: list[str] = field(default_factory=list)  # made by an earlier run, by nothing now
    foreign: list[str] = field(default_factory=list)  # made by nothing, ever

    def __bool__(self) -> bool:
        return bool(self.changed or self.missing or self.stale or self.foreign)


def with_manifest(outputs: Mapping[str, str]) -> dict[str, str]:
    lines = ["# The files that tools/regenerate makes, one a line. Generated; do not edit."]
    lines += sorted(outputs)
    return {**outputs, MANIFEST: "\n".join(lines) + "\n"}


def compare(folder: Path, outputs: Mapping[str, str]) -> Changes:
    """What `write` would do. `folder` is the generated/ folder; `outputs` maps paths that begin with
    generated/ to the files' text."""
    for path in outputs:
        if not path.startswith(_PREFIX) or ".." in path.split("/"):
            raise ValueError(f"{path}: outputs lie below {_PREFIX}")
    wanted = with_manifest(outputs)
    changes = Changes()
    for path in sorted(wanted):
        file = _file(folder, path)
        if not file.is_file():
            changes.missing.append(path)
        elif file.read_bytes() != wanted[path].encode():
            changes.changed.append(path)
    ours = _manifest(folder)
    on_disk = sorted(p for p in folder.rglob("*") if p.is_file()) if folder.is_dir() else []
    for file in on_disk:
        path = _PREFIX + file.relative_to(folder).as_posix()
        if path not in wanted and "__pycache__" not in file.parts:
            (changes.stale if path in ours else changes.foreign).append(path)
    return changes


def write(folder: Path, outputs: Mapping[str, str]) -> Changes:
    """Makes `folder` hold exactly `outputs`. Files that did not change keep their time stamps."""
    changes = compare(folder, outputs)
    wanted = with_manifest(outputs)
    for path in [*changes.missing, *changes.changed]:
        file = _file(folder, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(wanted[path].encode())
    for path in changes.stale:
        file = _file(folder, path)
        file.unlink()
        for parent in file.parents:
            if parent == folder or any(parent.iterdir()):
                break
            parent.rmdir()
    return changes


def _file(folder: Path, path: str) -> Path:
    return folder / path.removeprefix(_PREFIX)


def _manifest(folder: Path) -> set[str]:
    file = _file(folder, MANIFEST)
    if not file.is_file():
        return set()
    lines = file.read_text().splitlines()
    return {line for line in lines if line and not line.startswith("#")}

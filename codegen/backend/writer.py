"""The one writer of generated/: writes what changed, removes what nothing makes any more.

generated/MANIFEST lists every file that the generator made, so that a file left over from an
earlier run is known as ours and is removed, and any other file is reported and left alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Mapping

MANIFEST = "generated/MANIFEST"
ROOT = "generated"


@dataclass
class Changes:
    """How the files on disk differ from what was rendered; paths relative to the tree's root."""

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


def compare(tree: Path, outputs: Mapping[str, str]) -> Changes:
    """What `write` would do. `outputs` maps paths below generated/ to their text."""
    for path in outputs:
        if not path.startswith(ROOT + "/") or ".." in path.split("/"):
            raise ValueError(f"{path}: outputs lie below {ROOT}/")
    wanted = with_manifest(outputs)
    changes = Changes()
    for path in sorted(wanted):
        file = tree / path
        if not file.is_file():
            changes.missing.append(path)
        elif file.read_bytes() != wanted[path].encode():
            changes.changed.append(path)
    ours = _manifest(tree)
    root = tree / ROOT
    on_disk = sorted(p for p in root.rglob("*") if p.is_file()) if root.is_dir() else []
    for file in on_disk:
        path = file.relative_to(tree).as_posix()
        if path not in wanted:
            (changes.stale if path in ours else changes.foreign).append(path)
    return changes


def write(tree: Path, outputs: Mapping[str, str]) -> Changes:
    """Makes generated/ hold exactly `outputs`. Files that did not change keep their time stamps."""
    changes = compare(tree, outputs)
    wanted = with_manifest(outputs)
    for path in [*changes.missing, *changes.changed]:
        file = tree / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(wanted[path].encode())
    for path in changes.stale:
        file = tree / path
        file.unlink()
        for folder in file.parents:
            if folder == tree / ROOT or any(folder.iterdir()):
                break
            folder.rmdir()
    return changes


def _manifest(tree: Path) -> set[str]:
    file = tree / MANIFEST
    if not file.is_file():
        return set()
    lines = file.read_text().splitlines()
    return {line for line in lines if line and not line.startswith("#")}

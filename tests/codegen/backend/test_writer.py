"""The writer: touches only what changed, removes only what it made, reports the rest."""

import os

import pytest

from codegen.backend import writer

MANIFEST = f"generated/{writer.MANIFEST}"
FIRST = {"generated/ops/add.h": "one\n", "generated/ops/mul.h": "two\n"}


def read(folder):
    return {
        "generated/" + p.relative_to(folder).as_posix(): p.read_text()
        for p in folder.rglob("*")
        if p.is_file()
    }


def test_writes_everything_and_a_manifest(tmp_path):
    changes = writer.write(tmp_path, FIRST)
    assert sorted(changes.missing) == [MANIFEST, *sorted(FIRST)]
    assert read(tmp_path) == writer.with_manifest(FIRST)
    assert not writer.compare(tmp_path, FIRST)


def test_leaves_unchanged_files_alone(tmp_path):
    writer.write(tmp_path, FIRST)
    for file in tmp_path.rglob("*.h"):
        os.utime(file, (1, 1))
    changes = writer.write(tmp_path, {**FIRST, "generated/ops/mul.h": "three\n"})
    assert changes.changed == ["generated/ops/mul.h"]
    assert (tmp_path / "ops/add.h").stat().st_mtime == 1
    assert (tmp_path / "ops/mul.h").read_text() == "three\n"


def test_removes_what_nothing_makes_any_more(tmp_path):
    writer.write(tmp_path, {**FIRST, "generated/native/old.h": "old\n"})
    changes = writer.write(tmp_path, FIRST)
    assert changes.stale == ["generated/native/old.h"]
    assert not (tmp_path / "native").exists()
    assert read(tmp_path) == writer.with_manifest(FIRST)


def test_reports_foreign_files_and_keeps_them(tmp_path):
    writer.write(tmp_path, FIRST)
    (tmp_path / "ops/mine.h").write_text("mine\n")
    changes = writer.write(tmp_path, FIRST)
    assert changes.foreign == ["generated/ops/mine.h"]
    assert (tmp_path / "ops/mine.h").exists()


def test_compare_sees_edits_and_missing_files_and_writes_nothing(tmp_path):
    writer.write(tmp_path, FIRST)
    (tmp_path / "ops/add.h").write_text("edited\n")
    (tmp_path / "ops/mul.h").unlink()
    changes = writer.compare(tmp_path, FIRST)
    assert changes.changed == ["generated/ops/add.h"]
    assert changes.missing == ["generated/ops/mul.h"]
    assert (tmp_path / "ops/add.h").read_text() == "edited\n"


@pytest.mark.parametrize("path", ["aten/core/Tensor.h", "generated/../evil.h"])
def test_writes_below_generated_only(tmp_path, path):
    with pytest.raises(ValueError, match="lie below"):
        writer.write(tmp_path, {path: ""})

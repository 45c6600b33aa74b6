"""What benchmarks/report.py makes of figures."""

import pytest

from benchmarks import report


def results():
    return {
        "ours": {"version": "1", "threads": 1,
                 "times": {"fixed/a": [100.0, 110.0, 90.0, 100.0], "fixed/b": [50.0] * 4,
                           "mm/8": [10.0] * 4}},
        "theirs": {"version": "2", "threads": 1,
                   "times": {"fixed/a": [200.0, 240.0, 180.0, 200.0], "fixed/b": [400.0] * 4}},
    }


def test_ratios_lie_in_their_interval_and_it_is_as_wide_as_the_times_are():
    found = report.ratios(results())["theirs"]
    middle, low, high = found["fixed/a"]
    assert middle == 2 and 180 / 110 <= low < 2 < high <= 240 / 90
    assert found["fixed/b"] == (8, 8, 8)
    assert "mm/8" not in found


def test_table_has_a_row_for_each_case_and_leaves_out_what_a_peer_lacks():
    lines = report.table(results(), markdown=True).splitlines()
    assert lines[0].split("|")[1].strip() == "case"
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["fixed/a", "fixed/b", "mm/8"]
    assert "8.00 (8.00 to 8.00)" in lines[3] and "400 ns" in lines[3]
    assert lines[4].split("|")[4].strip() == "-"


def test_geometric_means_are_those_of_each_group():
    assert report.means(results()) == ["theirs / ours, fixed: 4.00, the geometric mean of 2"]


def test_plot(tmp_path):
    pytest.importorskip("matplotlib")
    report.plot(results(), tmp_path / "figure", "four rounds")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "figure.svg").read_text().startswith("<?xml")

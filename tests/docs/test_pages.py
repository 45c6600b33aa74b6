"""The pages of the reference as files: complete, with links that resolve, nothing from outside."""

import re
import time
from html.parser import HTMLParser

import pytest
from oploom.testing.samples import GROUPS

from codegen.backend import docs
from codegen.backend.__main__ import TREE, environment
from tests.docs.conftest import SOURCES

VOID = {"meta", "link", "input", "br", "mspace", "hr", "img"}
OPTIONAL_END = {"li", "p"}


class Reader(HTMLParser):
    """Collects links and anchors, and checks that elements are closed in order."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.links, self.anchors, self.open, self.mistakes = [], [], [], []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src"):
                self.links.append(value)
            if name == "id":
                self.anchors.append(value)
        if tag == "li" and self.open and self.open[-1] == "li":
            self.open.pop()
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        while self.open and self.open[-1] != tag and self.open[-1] in OPTIONAL_END:
            self.open.pop()
        if not self.open or self.open.pop() != tag:
            self.mistakes.append(f"</{tag}> at {self.getpos()}")


@pytest.fixture(scope="session")
def pages(site):
    found = {}
    for file in sorted(site.rglob("*.html")):
        reader = Reader()
        reader.feed(file.read_text())
        reader.close()
        found[file.relative_to(site).as_posix()] = reader
    return found


def test_every_operator_has_its_page(model, site):
    roots = {op.root for op in model.operators if not op.internal}
    assert {f.stem for f in (site / "op").glob("*.html")} == roots


def test_every_overload_has_its_section(model, pages):
    for op in model.operators:
        if not op.internal and op.group == op.name:
            assert op.identifier in pages[f"op/{op.root}.html"].anchors, op.name


def test_elements_are_closed_and_anchors_unique(pages):
    for path, page in pages.items():
        assert page.mistakes == [] and page.open == [], path
        assert len(page.anchors) == len(set(page.anchors)), path


def test_links_resolve_and_stay_inside(site, pages):
    for path, page in pages.items():
        for link in page.links:
            if link == "data:,":
                continue  # an empty icon, so that the browser asks for none
            assert "://" not in link and not link.startswith("/"), (path, link)
            file, _, anchor = link.partition("#")
            target = (site / path).parent.joinpath(file).resolve() if file else site / path
            assert target.is_file(), (path, link)
            if anchor:
                name = target.relative_to(site.resolve() if file else site).as_posix()
                assert anchor in pages[name].anchors, (path, link)


def test_style_and_script_fetch_nothing(site):
    for name in ("style.css", "search.js"):
        text = (site / name).read_text()
        assert not re.search(r"https?:|url\(|@import|fetch\(|XMLHttpRequest|\bimport\b", text), name


def test_source_links_lead_to_the_entry(model, site):
    lines = (site / "source" / "native_functions.yaml.html").read_text().split("\n")
    at = {m.group(1): line for line in lines if (m := re.match(r'<li id="L(\d+)">', line))}
    for op in model.operators:
        if op.autogen_from is None and not op.internal:
            assert f"{op.name}(" in at[str(op.line)], op.name


def test_conditions_on_numbers_are_shown(site):
    assert "<p>Requires <code>alpha != 0</code>.</p>" in (site / "op" / "celu.html").read_text()


def test_formulas_are_typeset(model, site):
    for op in model.operators:
        if op.expression is not None and not op.internal and op.kind == "functional":
            page = (site / "op" / f"{op.root}.html").read_text()
            section = page[page.index(f'<h2 id="{op.identifier}">') :].split("</section>")[0]
            assert "<h3>Formula</h3>" in section, op.name
            if op.derivative is not None and op.derivative.inputs:
                derivative = section[section.index("<h3>Derivative</h3>") :]
                assert "<math" in derivative, op.name


def test_functions_have_their_public_names(model):
    names = {
        "softplus": "oploom.nn.functional.softplus(",
        "special_i1": "oploom.special.i1(",
        "_l1_loss": "oploom._C._nn._l1_loss(",
        "exp": "oploom.exp(",
    }
    signatures = docs.python_signatures(model)
    for root, name in names.items():
        assert any(line.startswith(name) for line in signatures[root]), signatures[root]


def test_text_of_the_yaml_is_escaped():
    assert docs.prose("``a<b>`` & <i>") == "<p><code>a&lt;b&gt;</code> &amp; &lt;i&gt;</p>"
    assert "<b>" not in docs.session(">>> a <b>\n1<b>2").replace('<b class', "")


def test_knows_the_groups_of_dtypes_that_tests_use():
    assert docs.DTYPES == {name: tuple(group) for name, group in GROUPS.items()}


def test_stale_pages_are_removed(tmp_path):
    docs.write(tmp_path, {"op/a.html": "a", "op/b.html": "b"})
    docs.write(tmp_path, {"op/a.html": "a2"})
    assert [f.name for f in (tmp_path / "op").iterdir()] == ["a.html"]
    assert (tmp_path / "op" / "a.html").read_text() == "a2"


def test_is_made_quickly_and_always_the_same(model):
    sources = {name: (TREE / name).read_text() for name in SOURCES}
    start = time.process_time()
    first = docs.render(model, environment(model.package), sources)
    assert time.process_time() - start < 3
    assert docs.render(model, environment(model.package), sources) == first

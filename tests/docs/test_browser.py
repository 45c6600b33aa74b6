"""The reference as a reader meets it, in a browser: the search, both colour schemes, a phone."""

import pytest

from tests.docs import browser

pytestmark = pytest.mark.skipif(
    browser.BROWSER is None, reason="needs Chromium (apt install chromium)"
)

SAMPLE = ("index.html", "expressions.html", "op/add.html", "op/silu.html", "op/matmul.html",
          "op/native_layer_norm.html", "source/native_functions.yaml.html")


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    page = browser.Page(tmp_path_factory.mktemp("profile"))
    yield page
    page.close()


@pytest.fixture
def page(tab):
    tab.show_as()
    tab.complaints.clear()
    tab.requests.clear()
    yield tab
    assert tab.complaints == []
    assert [r for r in tab.requests if not r.startswith(("file:", "data:"))] == []


def found(page):
    return page.run("[...document.querySelectorAll('#results b')].map((b) => b.textContent)")


def selected(page):
    return page.run("document.querySelector('#results [aria-selected=true] b').textContent")


def test_the_search_is_used_by_keyboard_alone(site, page):
    page.open((site / "index.html").as_uri())
    page.type("/")
    assert page.run("document.activeElement.id") == "search"
    assert page.run("document.activeElement.value") == ""
    page.type("log")
    names = found(page)
    assert names[0] == "log" and {"log10", "log1p", "log2", "log_softmax"} <= set(names)
    assert selected(page) == "log"
    page.press("ArrowDown")
    assert selected(page) == names[1]
    page.press("ArrowUp")
    page.press("ArrowUp")
    assert selected(page) == names[-1], "from the first one, up leads to the last"
    page.press("ArrowDown")
    page.press("Enter")
    page.wait_for(
        "location.pathname.endsWith('/op/log.html') && document.readyState === 'complete'"
    )
    assert page.run("document.querySelector('h1').textContent") == "log"


def test_the_search_reads_descriptions_and_all_forms(site, page):
    page.open((site / "op" / "add.html").as_uri())
    page.type("/hyperbolic tangent")
    assert found(page)[0] == "tanh"
    page.press("Escape")
    assert page.run("document.getElementById('results').hidden")
    page.type("/mul_")
    assert "mul" in found(page)


def test_every_operator_is_found_by_its_name(site, page):
    page.open((site / "index.html").as_uri())
    first = """
      [...document.querySelectorAll('.operators dt a')].map((a) => a.textContent).filter((name) => {
        const input = document.getElementById('search');
        input.value = name;
        input.dispatchEvent(new Event('input'));
        return document.querySelector('#results b')?.textContent !== name;
      })"""
    assert page.run(first) == []


def test_what_is_not_there_is_said(site, page):
    page.open((site / "index.html").as_uri())
    page.type("/<b>zzz")
    assert page.run("document.getElementById('found').innerText") == "No operator matches “<b>zzz”."
    assert found(page) == []


def test_narrow_pages_do_not_scroll_sideways(site, page):
    page.show_as(width=380, height=700)
    wide = []
    # The pages with the most on them, beside those of every kind.
    largest = sorted((site / "op").glob("*.html"), key=lambda f: -f.stat().st_size)[:6]
    for file in [*largest, *(site / path for path in SAMPLE)]:
        page.open(file.as_uri())
        if page.run("document.documentElement.scrollWidth") > 380:
            wide.append(file.name)
    assert wide == []


# The ratio of WCAG 2: 4.5 and more can be read by nearly everyone.
CONTRAST = """
  (() => {
    const luminance = (colour) => {
      const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((v) => {
        const c = v / 255;
        return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) => {
      for (let e = element; e; e = e.parentElement) {
        const colour = getComputedStyle(e).backgroundColor;
        if (!/, 0\\)$/.test(colour)) return colour;
      }
      return 'rgb(255, 255, 255)';
    };
    const faint = new Set();
    for (const element of document.querySelectorAll('body *')) {
      if (![...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
      const [a, b] = [getComputedStyle(element).color, behind(element)].map(luminance);
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < 4.5) faint.add(`${element.tagName}.${element.className} ${ratio.toFixed(2)}`);
    }
    return [...faint];
  })()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", SAMPLE[:-1])
def test_text_stands_out(site, page, scheme, path):
    page.show_as(scheme)
    page.open((site / path).as_uri())
    paper = page.run("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(251, 250, 246)") == (scheme == "light")
    assert page.run(CONTRAST) == []


def test_formulas_are_laid_out_as_mathematics(site, page):
    page.open((site / "op" / "sigmoid.html").as_uri())
    size = page.run("(() => { const f = document.querySelector('mfrac');"
                    " return [f.firstChild.getBoundingClientRect().bottom,"
                    " f.lastChild.getBoundingClientRect().top]; })()")
    assert size[0] <= size[1], "a fraction's numerator stands above its denominator"


def test_links_lead_somewhere(site, page):
    # tests/docs/test_pages.py follows every link; here the browser agrees on some.
    page.open((site / "op" / "add.html").as_uri())
    for link in page.run("[...document.querySelectorAll('.facts a, .crumb a')].map((a) => a.href)"):
        page.open(link)
        anchor = link.partition("#")[2]
        assert anchor and page.run("document.querySelector(':target')?.id") == anchor, link

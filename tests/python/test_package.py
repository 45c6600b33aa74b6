"""The package as a whole: import, type stubs, threads."""

import ast
import inspect
import os
import pathlib
import re
import threading
import time

import oploom
import pytest

from tests.python.own_process import run

STUB = pathlib.Path(oploom.__file__).resolve().with_name("_C.pyi")


def stub_path():
    path = pathlib.Path(oploom._C.__file__).with_name("_C.pyi")
    return path if path.exists() else STUB


def test_import_brings_no_numpy():
    assert run("import oploom; print('numpy' in sys.modules)") == "False\n"


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""),
                    reason="the sanitizers make it slow")
def test_import_is_quick():
    code = """
    import time
    start = time.process_time()
    import oploom
    print(time.process_time() - start)
    """
    assert min(float(run(code)) for _ in range(3)) < 0.1


def test_works_without_numpy():
    code = """
    sys.modules["numpy"] = None
    import oploom
    x = oploom.tensor([1.0, 2.0])
    print((x + 1).tolist(), bytes(memoryview(x))[:4])
    """
    assert run(code).startswith("[2.0, 3.0]")


def test_exit_with_living_tensors():
    code = """
    import oploom
    import builtins
    builtins.keep = [oploom.ones(1000, requires_grad=True)]
    builtins.keep.append((builtins.keep[0] * 2).sum())
    builtins.keep[1].register_hook(lambda g: None)
    """
    run(code)


def test_stub_parses_and_is_complete():
    tree = ast.parse(stub_path().read_text())
    names = set()
    methods = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        if isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
        if isinstance(node, ast.ImportFrom) and node.module == "oploom.functional":
            names.update(alias.asname for alias in node.names)
        if isinstance(node, ast.ClassDef) and node.name == "Tensor":
            for item in node.body:
                if isinstance(item, ast.FunctionDef):
                    methods.add(item.name)
                if isinstance(item, ast.AnnAssign):
                    methods.add(item.target.id)
    public = {n for n in dir(oploom._C) if not n.startswith("_")}
    assert public - names == set()
    assert names - set(dir(oploom._C)) == set()
    assert {n for n in dir(oploom.Tensor) if not n.startswith("_")} - methods == set()
    # Python has __buffer__ from 3.12 on; type checkers ask for it before.
    assert methods - set(dir(oploom.Tensor)) <= {"__init__", "__buffer__"}


def stub_parameters(tree):
    """The parameters of each function and method of the stub, of all its overloads together."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            given = node.args
            names = {a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
            names |= {a.arg for a in (given.vararg,) if a is not None}
            found.setdefault(node.name, set()).update(names)
    return found


def test_stub_has_the_parameters_that_docstrings_state():
    stub = stub_parameters(ast.parse(stub_path().read_text()))
    checked = 0
    for name, names in stub.items():
        function = getattr(oploom, name, None) or getattr(oploom.Tensor, name, None)
        head = (getattr(function, "__doc__", None) or "").split("\n\n")[0]
        for line in head.splitlines():
            if not line.startswith(f"{name}("):
                continue
            inside = re.sub(r"\[[^\]]*\]", "", line[len(name) + 1 :].split(") ->")[0])
            stated = {part.split()[-1].split("=")[0] for part in inside.split(",")
                      if len(part.split()) > 1}
            # A name that is a keyword of Python has a `_` in the stub.
            assert stated - {"self"} <= names | {n.rstrip("_") for n in names}, line
            checked += len(stated) > 0
    assert checked > 250


def test_public_names_exist():
    for module in (oploom.autograd, oploom.nn, oploom.optim):
        for name in module.__all__:
            assert hasattr(module, name)
    for name, value in vars(oploom.nn.functional).items():
        if inspect.isfunction(value) and not name.startswith("_"):
            assert value.__doc__, name


def test_long_operators_release_the_gil():
    x = oploom.rand(1200, 1200)
    done = threading.Event()
    ticks = 0

    def work():
        for _ in range(5):
            x @ x
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        ticks += 1
        time.sleep(0.0005)
    thread.join()
    assert ticks > 5


def test_many_threads():
    errors = []

    def work():
        try:
            for _ in range(200):
                x = oploom.ones(10)
                assert (x + x).sum().item() == 20
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_mypy_accepts_the_package():
    pytest.importorskip("mypy.api")
    from mypy import api

    folder = pathlib.Path(oploom.__file__).parent
    out, err, status = api.run(["--no-incremental", "--cache-dir=/dev/null", str(folder)])
    assert status == 0, out + err


USER = """
import oploom
from oploom import nn

x = oploom.ones(2, 2)
product: oploom.Tensor = oploom.einsum("ij,jk->ik", x, x)
product = oploom.einsum("ij,jk->ik", [x, x])
product = oploom.einsum("ij,jk->ik", x, x, path=[0, 1])
rows, columns = oploom.nonzero(x, as_tuple=True)
rows, columns = x.nonzero(as_tuple=True)
places: oploom.Tensor = oploom.nonzero(x)
length: oploom.Tensor = oploom.norm(x, "fro")
length = oploom.norm(x, dim=1)
length = x.norm(2, dim=(0, 1), keepdim=True)
real: bool = oploom.is_floating_point(x)
with oploom.no_grad():
    best: oploom.return_types.max = x.max(0)
values: oploom.Tensor = best.values
fields: tuple[str, ...] = best._fields
data: bytes = bytes(memoryview(x))
x.requires_grad_()
with x.register_hook(lambda gradient: None) as handle:
    handle.remove()
oploom.set_printoptions(precision=4)
model = nn.Linear(2, 2)
optimizer = oploom.optim.SGD(model.parameters(), lr=0.1)
answer: oploom.Tensor = model(x)
with model.register_forward_hook(lambda module, args, result: None) as hook:
    hook.remove()
model.register_forward_pre_hook(lambda module, args: None, prepend=True).remove()
model = model.half().bfloat16().float().double()
bits: oploom.Tensor = x.view(oploom.int32)
version: str = oploom.__version__
"""

MISTAKES = """
import oploom

x = oploom.ones(2, 2)
oploom.einsum(1, x)
oploom.norm(x, [])
places: oploom.Tensor = oploom.nonzero(x, as_tuple=True)
oploom.max_result
"""


def test_mypy_accepts_what_a_user_writes(tmp_path, monkeypatch):
    """Under --strict, where a name counts only if the package says that it is meant for users."""
    pytest.importorskip("mypy.api")
    from mypy import api

    folder = pathlib.Path(oploom.__file__).parent
    monkeypatch.setenv("MYPYPATH", str(folder.parent))
    options = ["--strict", "--no-incremental", "--cache-dir=/dev/null"]
    (tmp_path / "user.py").write_text(USER)
    out, err, status = api.run([*options, str(tmp_path / "user.py")])
    assert status == 0, out + err
    exec(USER, {})  # noqa: S102
    (tmp_path / "mistakes.py").write_text(MISTAKES)
    out, err, status = api.run([*options, str(tmp_path / "mistakes.py")])
    assert [line.split(":")[1] for line in out.splitlines() if "error:" in line] == [
        "5", "6", "7", "8"], out

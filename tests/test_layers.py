"""Each layer imports only from the layers above it."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_repository import tracked_files

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "tidemill"

# From the top: a layer may import those before it. The folder tree is the path of a query.
LAYERS = [
    "errors",
    "explain",
    "wire",
    "deadline",
    "copying",
    "long_conditions",
    "store",
    "timeline",
    "sql",
    "table",
    "algebra",
    "expressions",
    "catalog",
    "analyze",
    "reference",
    "optimize",
    "physical",
    "connectors",
    "stages",
    "runtime",
    "graph",
    "terminal",
    "notebook",
    "engine",
    "compose",
    "testing",
    "tidemill",  # the package itself: the names it re-exports
    "nexmark",  # an application: data and queries
    "client",
    "show",
    "server",
    "shell",
    "cli",
]

# Modules at the top of the package that belong to a layer of another name.
MEMBERS = {
    "__init__": "tidemill",
    "__main__": "cli",
}

# Layers held to less than what is above them.
NARROW = {
    "sql": {"errors", "long_conditions"},
    "table": {"errors", "sql"},
    "algebra": {"errors", "explain", "timeline", "copying", "long_conditions"},
    "client": {"errors", "wire", "algebra"},
}

MODULES = sorted(PACKAGE.rglob("*.py"))
_LINES = re.MULTILINE | re.DOTALL


def layer_of(parts: tuple[str, ...]) -> str:
    """The layer of a module, given its path below the package: ("sql", "parser") is in sql."""
    name = parts[0] if parts else "__init__"
    return MEMBERS.get(name, name)


def allowed(layer: str) -> set[str]:
    """The layers that a layer may import, itself included."""
    above = set(LAYERS[: LAYERS.index(layer)])
    return NARROW.get(layer, above) | {layer}


def imports(source: str, package: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Line and layer of each import from Tidemill, wherever it stands in the source."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top, *rest = alias.name.split(".")
                if top == "tidemill":
                    yield node.lineno, layer_of(tuple(rest))
        elif isinstance(node, ast.ImportFrom):
            base = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                base = package[: len(package) - node.level + 1] + base
            if base[:1] != ("tidemill",):
                continue
            for alias in node.names:
                # `from tidemill import errors` names a layer, `import Engine` the package itself.
                is_layer = len(base) == 1 and alias.name in {*LAYERS, *MEMBERS}
                yield node.lineno, layer_of((alias.name,) if is_layer else base[1:])


def breaches(source: str, path: tuple[str, ...]) -> list[str]:
    """What a module imports from layers it must not know."""
    layer = layer_of(path)
    return [
        f"line {line}: {layer} must not import {target}"
        for line, target in imports(source, ("tidemill", *path[:-1]))
        if target not in allowed(layer)
    ]


@pytest.mark.parametrize(
    "module", MODULES, ids=[module.relative_to(PACKAGE).as_posix() for module in MODULES]
)
def test_module_imports_only_from_layers_above(module: Path) -> None:
    path = module.relative_to(PACKAGE).with_suffix("").parts
    assert layer_of(path) in LAYERS, "a new layer: give it its place in LAYERS"
    assert breaches(module.read_text("utf-8"), path) == []


def test_no_two_public_classes_have_one_name() -> None:
    named = Counter(
        node.name
        for module in MODULES
        for node in ast.walk(ast.parse(module.read_text("utf-8")))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert not [name for name, times in named.items() if times > 1]


def test_mechanisms_know_no_operators() -> None:
    named = re.compile(r"tidemill\.physical\.(?:operators|lowering)\b")
    modules = (PACKAGE / "physical" / "mechanisms").glob("*.py")
    assert not [path for path in modules if named.search(path.read_text("utf-8"))]


def shown_tree(page: str) -> str:
    """The tree of folders that a page shows."""
    found = re.search(r"^```\n(src/tidemill/\n.*?)^```$", (ROOT / page).read_text("utf-8"), _LINES)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_the_tree_of_a_page_is_there(page: str) -> None:
    tree = shown_tree(page)
    layers = re.findall(r"^  (\w+)(?:/|\.py) ", tree, re.MULTILINE)
    assert layers == [layer for layer in LAYERS if layer != "tidemill"]
    assert not [layer for layer in layers if not is_in(PACKAGE, layer)]
    folders = {path.relative_to(ROOT).parts[0] for path in tracked_files() if path.parent != ROOT}
    shown = {"src", *re.findall(r"^(\w+)/ ", tree, re.MULTILINE)}
    assert shown == {folder for folder in folders if not folder.startswith(".")}


def is_in(folder: Path, name: str) -> bool:
    return (folder / name).is_dir() or (folder / f"{name}.py").is_file()


@pytest.mark.parametrize("folder", ["tests", "benchmarks", "experiments", "examples"])
def test_the_package_needs_nothing_beside_it(folder: str) -> None:
    imported = re.compile(rf"^\s*(?:from|import) {folder}\b", re.MULTILINE)
    assert not [path for path in MODULES if imported.search(path.read_text("utf-8"))]


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        ("sql/parser", "from tidemill.errors import ParseError", []),
        ("sql/parser", "from . import tokens; from .tree import Node", []),
        ("sql/parser", "import tidemill.timeline", ["timeline"]),
        ("algebra/nodes", "from ..sql import tree", ["sql"]),
        ("algebra/nodes", "from tidemill import sql", ["sql"]),
        ("algebra/nodes", "from tidemill import Engine", ["tidemill"]),
        ("optimize/rules/merge", "def f():\n    from ... import engine", ["engine"]),
        ("physical/__init__", "from .join import Join; from ..algebra.plan import Plan", []),
        ("engine/query", "from .engine import Engine", []),
        ("testing/oracle", "import tidemill.cli, tidemill.reference", ["cli"]),
        ("cli/__init__", "import tidemill as tm", []),
        ("__init__", "from .engine import Engine; from .cli import main", ["cli"]),
    ],
)
def test_breaches_are_found(path: str, source: str, found: list[str]) -> None:
    named = [text.rsplit(" ", 1)[1] for text in breaches(source, tuple(path.split("/")))]
    assert named == found

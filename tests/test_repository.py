"""The repository holds nothing that ties it to one machine, and every module says what it is."""

import ast
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
LOCKS = sorted([*ROOT.glob("*.lock"), *ROOT.glob("requirements*.txt")])

# Written so that this file does not find itself.
MACHINE_PATH = re.compile(r"(?<![\w.\-~*})\]])/(?:home|root|work)\b(?!-)|(?<![\w.])/tmp[/]")
UNTRACKED = {".git", ".venv", ".hypothesis", "build", "dist", "__pycache__"}


def tracked_files() -> list[Path]:
    """The files that are, or would be, committed."""
    git = shutil.which("git")
    if git is not None and (ROOT / ".git").exists():
        command = [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if listing.returncode == 0:
            names = filter(None, listing.stdout.split("\0"))
            return [ROOT / name for name in names if (ROOT / name).is_file()]
    return [
        path
        for path in ROOT.rglob("*")
        if path.is_file() and not any(_generated(part) for part in path.relative_to(ROOT).parts)
    ]


def _generated(part: str) -> bool:
    return part in UNTRACKED or part.endswith(("_cache", ".egg-info"))


def test_no_machine_paths() -> None:
    found = []
    for path in tracked_files():
        data = path.read_bytes()
        if b"\0" in data:
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
            if MACHINE_PATH.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert found == []


def test_machine_paths_are_recognised() -> None:
    slash = "/"
    assert MACHINE_PATH.search(f"open('{slash}home/me/data.csv')")
    assert MACHINE_PATH.search(f"cd {slash}work")
    assert MACHINE_PATH.search(f"path={slash}tmp/x")
    assert not MACHINE_PATH.search(f"tests{slash}work, docs{slash}home, ~{slash}root")


def test_there_is_a_lock() -> None:
    assert LOCKS


def test_the_lock_of_the_page_names_no_place() -> None:
    text = (ROOT / "web" / "package-lock.json").read_text("utf-8")
    assert '"integrity"' in text
    assert "://" not in text


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_lock_pins_versions_and_names_no_place(lock: Path) -> None:
    lines = [line.strip() for line in lock.read_text("utf-8").splitlines()]
    pinned = re.compile(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!_-]+")
    assert not [line for line in lines if "://" in line]
    assert not [
        line for line in lines if line and not line.startswith("#") and not pinned.fullmatch(line)
    ]


@pytest.mark.parametrize(
    "source", SOURCES, ids=[source.relative_to(ROOT).as_posix() for source in SOURCES]
)
def test_module_has_a_docstring(source: Path) -> None:
    assert ast.get_docstring(ast.parse(source.read_text("utf-8")))


def test_every_source_folder_is_a_package() -> None:
    # Without an __init__.py, doctests would import a second copy of the modules in it.
    folders = {source.parent for source in SOURCES}
    assert not [folder.name for folder in folders if not (folder / "__init__.py").exists()]


def test_hooks_run_the_tools_of_the_lock() -> None:
    """Before a commit runs what `make lint` runs, in the same versions and without a network."""
    hooks = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    assert set(re.findall(r"^ *- repo: (.*)$", hooks, re.MULTILINE)) == {"local"}
    tools = re.findall(r"^ *entry: \.venv/bin/(\w+)", hooks, re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text("utf-8")
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    assert set(tools) == set(re.findall(r"\$\(BIN\)/(\w+)", _target(makefile, "lint")))
    assert not [tool for tool in tools if f"\n{tool}==" not in lock]


def _target(makefile: str, name: str) -> str:
    """The recipe of a target."""
    found = re.search(rf"^{name}:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert found is not None
    return found[1]

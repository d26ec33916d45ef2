"""What the site has besides the pages in docs/: the README, a reference, and what pages link to."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
_LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)")

REFERENCE = {
    "engine": ("Engine and Query", ["engine.Engine", "engine.query.Query", "engine.Report"]),
    "tables": ("Tables and expressions", ["table"]),
    "runs": ("What runs", ["engine.started.StartedQuery", "runtime.progress.Progress"]),
    "client": ("A server from Python", ["client"]),
    "testing": ("Tests of queries", ["testing"]),
    "errors": ("Errors", ["errors"]),
}
"""Pages of the reference: their titles, and whose docstrings they show."""


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are not in docs/, and the files elsewhere that pages link to."""
    for name, (title, objects) in REFERENCE.items():
        blocks = "".join(f"\n::: tidemill.{each}\n" for each in objects)
        text = f"# {title}\n{blocks}"
        files.append(File.generated(config, f"api/{name}.md", content=text))
    readme = (ROOT / "README.md").read_text("utf-8")
    files.append(File.generated(config, "index.md", content=_from_docs(readme)))
    for path in sorted(_linked(files) | _linked_by_the_readme(readme)):
        files.append(_copy(config, path))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Let links to files outside docs/ lead to their copies."""
    return _LINK.sub(lambda m: f"]({_within(m[1], page.file.src_uri)}", markdown)


def _within(link: str, page: str) -> str:
    if not link.startswith("../") or "/" in page:
        return link
    return _kept_at(Path(link.removeprefix("../")))


def _from_docs(readme: str) -> str:
    """The text of the README with links as pages in docs/ have them."""
    return _LINK.sub(
        lambda m: f"]({m[1].removeprefix('docs/') if m[1].startswith('docs/') else '../' + m[1]}",
        readme,
    )


def _linked(files: Files) -> set[Path]:
    """What pages in docs/ link to that is not there."""
    pages = [Path(str(each.abs_src_path)) for each in files if each.abs_src_path]
    texts = [page.read_text("utf-8") for page in pages if page.suffix == ".md"]
    links = {link for text in texts for link in _LINK.findall(text)}
    return {Path(link.removeprefix("../")) for link in links if link.startswith("../")}


def _linked_by_the_readme(readme: str) -> set[Path]:
    return {Path(link) for link in _LINK.findall(readme) if not link.startswith("docs/")}


def _copy(config: Any, path: Path) -> File:
    """What a page links to; a folder is its README, or the list of what is in it."""
    source = ROOT / path
    if not source.is_dir():
        return File.generated(config, _kept_at(path), abs_src_path=str(source))
    readme = source / "README.md"
    names = "\n".join(sorted(each.name for each in source.iterdir() if each.is_file()))
    text = readme.read_text("utf-8") if readme.exists() else names
    return File.generated(config, _kept_at(path), content=text)


def _kept_at(path: Path) -> str:
    """Where a copy is. It is shown as it is, so that pages of the site are those of docs/."""
    if (ROOT / path).is_dir():
        return f"files/{path}/index.txt"
    return f"files/{path.with_suffix('.txt') if path.suffix in ('.md', '') else path}"

"""Everything that the documentation and the examples show is run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.docs.pages import PAGES, ROOT, RUNNABLE, Session, examples, expected
from tidemill.cli import app
from tidemill.nexmark.queries import QUERIES as BENCHMARK

SCRIPTS = sorted((ROOT / "examples" / "python").glob("*.py"))
AUCTION = ROOT / "examples" / "auction"
CSV = ROOT / "examples" / "csv"
READMES = [AUCTION / "README.md", CSV / "README.md"]


ON_SPARK = {"README.md", "coming-from-spark.md", "getting-started.md", "spark.md"}
RUNNING_PAGES = [
    pytest.param(page, marks=pytest.mark.spark) if page.name in ON_SPARK else page
    for page in RUNNABLE
]


def name(path: Path) -> str:
    return path.name


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("page", RUNNING_PAGES, ids=name)
def test_page(page: Path) -> None:
    wrong = []
    with Session() as session:
        for example in examples(page.read_text("utf-8")):
            output, shown = session.run(example.block), expected(example)
            if shown is not None and output != shown:
                wrong.append(f"line {example.block.line}:\n{output}\ninstead of\n{shown}")
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("script", SCRIPTS, ids=name)
def test_script(script: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONWARNINGS": "error"}
    command = [sys.executable, str(script)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert run.returncode == 0, run.stderr
    assert run.stdout
    assert not run.stderr


@pytest.mark.parametrize("query", sorted(CSV.glob("*.sql")), ids=name)
def test_query(query: Path) -> None:
    assert query.read_text("utf-8").startswith("-- "), "say what the query answers"
    arguments = [str(query.relative_to(ROOT)), "--format", "csv", "--runtime", "inprocess"]
    result = CliRunner().invoke(app, ["run", *arguments])
    assert result.exit_code == 0, result.output
    assert "warning" not in result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].endswith(",valid_from,valid_to")
    assert len(lines) > 5


def test_generated_data_is_up_to_date(tmp_path: Path) -> None:
    (tmp_path / "generate.py").write_text((CSV / "generate.py").read_text("utf-8"), "utf-8")
    subprocess.run([sys.executable, str(tmp_path / "generate.py")], check=True)
    files = sorted(path.relative_to(tmp_path) for path in (tmp_path / "data").rglob("*.csv"))
    assert files == sorted(p.relative_to(CSV) for p in (CSV / "data").rglob("*.csv"))
    for file in files:
        assert (tmp_path / file).read_bytes() == (CSV / file).read_bytes()


def test_the_auction_queries_are_those_of_the_package() -> None:
    eight = {query.file for query in BENCHMARK.values() if query.name.startswith("q")}
    assert {path.name for path in AUCTION.glob("*.sql")} == eight
    for path in AUCTION.glob("*.sql"):
        assert path.resolve().parent == ROOT / "src" / "tidemill" / "nexmark" / "queries"


@pytest.mark.parametrize("readme", READMES, ids=lambda readme: readme.parent.name)
def test_a_readme_lists_every_query_and_what_it_answers(readme: Path) -> None:
    cells = re.findall(r"^\| \[(\w+)\]\(\S+\.sql\) \| ([^|]+) \|", readme.read_text("utf-8"), re.M)
    assert sorted(title for title, _ in cells) == sorted(
        p.stem for p in readme.parent.glob("*.sql")
    )
    for title, words in cells:
        comment = (readme.parent / f"{title}.sql").read_text("utf-8").splitlines()[0]
        said = comment.removeprefix("-- ").lower()
        assert said.startswith(words.strip().split(",")[0].lower()), title


@pytest.mark.parametrize("page", [*PAGES, *READMES], ids=lambda p: f"{p.parent.name}/{p.name}")
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:\s]*)(?:#([^)]*))?\)", page.read_text("utf-8"))
    assert not [link for link, _ in links if not (page.parent / link).exists()]
    to_headings = [
        (page.parent / link if link else page, anchor) for link, anchor in links if anchor
    ]
    assert not [anchor for target, anchor in to_headings if anchor not in anchors(target)]


def anchors(page: Path) -> set[str]:
    """The headings of a page, as links name them."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    words = (
        re.sub(r"[^\w\- ]", "", text) for text in re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    )
    return {text.lower().replace(" ", "-") for text in words}

import stat
from pathlib import Path

import pytest
from prompt_toolkit.history import InMemoryHistory

from tidemill.shell.history import history_path, open_history


def test_it_is_in_the_folder_for_states(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert history_path() == tmp_path / "tidemill" / "history"
    monkeypatch.setenv("XDG_STATE_HOME", "relative/is/ignored")
    assert history_path().is_relative_to(Path.home())


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history"
    open_history(path).append_string("SELECT 1;")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.chmod(0o644)
    open_history(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "secret",
    [
        "CREATE RELATION r (a INT) SOURCE postgres(url => 'postgresql://ann:rose@host/shop');",
        "CREATE RELATION r (a INT) SOURCE postgres(password => 'rose');",
        "CREATE RELATION r (a INT) SOURCE jdbc(Password='rose');",
    ],
)
def test_passwords_are_not_kept(tmp_path: Path, secret: str) -> None:
    history = open_history(tmp_path / "history")
    for text in ("SELECT 1;", secret):
        history.append_string(text)
    assert history.get_strings() == ["SELECT 1;"]
    assert "rose" not in (tmp_path / "history").read_text("utf-8")


def test_without_a_folder_it_is_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert isinstance(open_history(tmp_path / "file" / "history"), InMemoryHistory)

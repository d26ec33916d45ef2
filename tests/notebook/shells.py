"""Shells that run notebooks cell by cell: one like that of IPython, and that, if it is there."""

import ast
import importlib
import importlib.util
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

_CELL_MAGIC = re.compile(r"%%(\w+)([^\n]*)\n(.*)", re.DOTALL)
_LINE_MAGIC = re.compile(r"%(\w+) +(\S+)\s*")


class FakeShell:
    """Runs cells of Python and of magics; the value of the last expression is the output."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {"__name__": "__main__"}
        self.magics_manager = SimpleNamespace(magics={"line": {}, "cell": {}})
        self.tracebacks: list[list[str]] = []
        self._custom: tuple[tuple, Any] = ((), None)

    def register_magic_function(self, func, magic_kind="line", magic_name=None) -> None:
        self.magics_manager.magics[magic_kind][magic_name or func.__name__] = func

    def set_custom_exc(self, exc_tuple, handler) -> None:
        assert type(exc_tuple) is tuple
        self._custom = (exc_tuple, handler)

    def _showtraceback(self, etype, evalue, stb) -> None:
        self.tracebacks.append(stb)

    def run_cell(self, cell: str) -> Any:
        """The output of a cell; errors that the extension shows are not raised."""
        exceptions, handler = self._custom
        try:
            return self._run(cell)
        except exceptions as error:
            shown = handler(self, type(error), error, error.__traceback__, tb_offset=None)
            assert all(isinstance(line, str) for line in shown)
            return None

    def _run(self, cell: str) -> Any:
        if found := _CELL_MAGIC.fullmatch(cell):
            return self.magics_manager.magics["cell"][found[1]](found[2].strip(), found[3])
        if found := _LINE_MAGIC.fullmatch(cell):
            return self._extension(found[1], found[2])
        return self._python(cell)

    def _extension(self, magic: str, name: str) -> None:
        module = __import__(name)
        {"load_ext": module.load_ipython_extension, "unload_ext": module.unload_ipython_extension}[
            magic
        ](self)

    def _python(self, cell: str) -> Any:
        body = ast.parse(cell).body
        last = body[-1] if body else None
        is_value = isinstance(last, ast.Expr)
        exec(compile(ast.Module(body[:-1] if is_value else body, []), "cell", "exec"), self.user_ns)
        if not isinstance(last, ast.Expr):
            return None
        return eval(compile(ast.Expression(last.value), "cell", "eval"), self.user_ns)


def ipython_shell() -> Any:
    """A shell of IPython that keeps what it would show of errors."""
    interactive: Any = importlib.import_module("IPython.core.interactiveshell").InteractiveShell

    class Recording(interactive):
        def __init__(self) -> None:
            super().__init__()
            self.tracebacks: list[list[str]] = []

        def _showtraceback(self, etype, evalue, stb):
            self.tracebacks.append(stb)

        def run_cell(self, cell, **options):
            return super().run_cell(cell, **options).result

    return Recording()


SHELLS: dict[str, Callable[[], Any]] = {"fake": FakeShell}
if importlib.util.find_spec("IPython"):
    SHELLS["ipython"] = ipython_shell

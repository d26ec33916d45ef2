"""CSV as Spark writes and reads it.

Arrow has a writer of CSV, but it doubles quotes in a text, where Spark expects a backslash before
them unless it is told otherwise. So texts are made here, a column at a time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl
import pyarrow as pa

from tidemill.connectors.sinks.encoding.options import Options
from tidemill.connectors.sinks.encoding.texts import with_texts_of_time


@dataclass(frozen=True)
class Style:
    """How values look in a file.

    >>> Style().encoded(pa.table({"a": ["x,y", "", None], "b": [1.5, None, 2.0]}))
    '"x,y",1.5\\n"",\\n,2.0\\n'
    """

    sep: str = ","
    quote: str = '"'
    escape: str = "\\"
    null: str = ""
    empty: str = '""'
    header: bool = False
    quote_all: bool = False

    @staticmethod
    def of(options: Options) -> Style:
        """The style that a user asked for."""
        return Style(
            sep=options.text("sep", "delimiter", default=","),
            quote=(quote := options.sign("quote", default='"')),
            escape=options.sign("escape", default="\\"),
            null=options.text("nullValue", default=""),
            empty=options.text("emptyValue", default=quote * 2),
            header=options.flag("header"),
            quote_all=options.flag("quoteAll"),
        )

    def encoded(self, table: pa.Table) -> str:
        """The lines of a table."""
        texts = _texts(pl.DataFrame(table))
        values = [self._looking(pl.col(name)) for name in texts.columns]
        lines = texts.select(line=pl.concat_str(values, separator=self.sep))["line"]
        return "".join(f"{line}\n" for line in [*self._header(table), *lines])

    def _header(self, table: pa.Table) -> list[str]:
        if not self.header:
            return []
        names = pl.DataFrame({"name": table.column_names})
        return [self.sep.join(names.select(name=self._looking(pl.col("name")))["name"])]

    def _looking(self, text: pl.Expr) -> pl.Expr:
        quoted = text
        # Where quotes are doubled, the sign before a quote is a quote itself.
        for sign in dict.fromkeys((self.escape, self.quote)):
            quoted = quoted.str.replace_all(sign, self.escape + sign, literal=True)
        quoted = pl.lit(self.quote) + quoted + pl.lit(self.quote)
        return (
            pl.when(text.is_null())
            .then(pl.lit(self.null))
            .when(text == "")
            .then(pl.lit(self.empty))
            .when(self._needs_quotes(text))
            .then(quoted)
            .otherwise(text)
        )

    def _needs_quotes(self, text: pl.Expr) -> pl.Expr:
        if self.quote_all:
            return pl.lit(True)
        special = "|".join(map(re.escape, (self.sep, self.quote, "\n", "\r")))
        # A text that looks like NULL is none; some readers take a line with # for a comment.
        return text.str.contains(f"{special}|^#") | (text == self.null)


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Values as texts; what is infinite has the name that Java gives it."""
    texts = with_texts_of_time(frame).cast(pl.String)
    floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
    return texts.with_columns(pl.col(floats).str.replace("inf", "Infinity", literal=True))

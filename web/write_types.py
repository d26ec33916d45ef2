"""Writes the page's types of what a server says: `python web/write_types.py`.

They are made of the shapes in `tidemill.wire`; a test sees whether they are.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema

from tidemill.wire import base, catalog, compose, graph, plans, queries, statements, tables

TYPES = Path(__file__).parent / "src" / "api" / "wire.ts"
MODULES = (base, statements, tables, catalog, queries, plans, graph, compose)
ALIASES = {
    "Domain": base.Domain,
    "Level": compose.Level,
    "SettingType": compose.SettingType,
    "SettingValue": compose.Values,
    "EventKind": graph.EventKind,
}
HEAD = """\
// What a server says. Made by `python web/write_types.py` from src/tidemill/wire: change that.
//
// Instants are integers: ticks, or microseconds since 1970 where the domain is "microseconds". An
// open end is null.

export type Value = string | number | boolean | null | Value[] | { [name: string]: Value };
"""


def typescript() -> str:
    """All shapes of answers, and plans, which are sent and answered."""
    found = [each for module in MODULES for each in vars(module).values() if _is_answer(each)]
    shapes = [*dict.fromkeys(found), compose.ComposedPlan]
    _, schema = models_json_schema(
        [(each, "serialization") for each in shapes], ref_template="{model}"
    )
    names = sorted(schema["$defs"], key=_order(shapes))
    aliases = _aliases()
    interfaces = (_interface(name, schema["$defs"][name], aliases) for name in names)
    named = (f"export type {name} = {meaning};" for meaning, name in aliases.items())
    return "\n".join([HEAD, *named, "", *interfaces])


def _is_answer(found: object) -> bool:
    shape = isinstance(found, type) and issubclass(found, base.WireModel)
    return shape and found is not base.WireModel


def _order(shapes: list[type[BaseModel]]) -> Any:
    """As they are declared; what is only a part of others comes last."""
    places = {each.__name__: place for place, each in enumerate(shapes)}
    return lambda name: (places.get(name, len(places)), name)


def _aliases() -> dict[str, str]:
    """The names of types that have one, by their meaning."""
    return {_type(TypeAdapter(each).json_schema(), {}): name for name, each in ALIASES.items()}


def _interface(name: str, schema: dict[str, Any], aliases: dict[str, str]) -> str:
    words = " ".join(schema.get("description", "").split())
    comment = textwrap.wrap(words, 96, initial_indent="/** ", subsequent_indent=" * ")
    fields = (f"  {field}: {_type(each, aliases)};" for field, each in schema["properties"].items())
    end = ["\n".join(comment) + " */"] if comment else []
    return "\n".join([*end, f"export interface {name} {{", *fields, "}", ""])


def _type(schema: dict[str, Any], names: dict[str, str]) -> str:
    text = _meaning(schema, names)
    return names.get(text, text)


def _meaning(schema: dict[str, Any], names: dict[str, str]) -> str:
    match schema:
        case {"$ref": name}:
            return str(name)
        case {"anyOf": choices}:
            return " | ".join(dict.fromkeys(_meaning(each, names) for each in choices))
        case {"enum": values}:
            return " | ".join(f'"{value}"' for value in values)
        case {"const": value}:
            return f'"{value}"'
        case {"type": "array", "items": items, "minItems": 2, "maxItems": 2}:
            return f"[{_type(items, names)}, {_type(items, names)}]"
        case {"type": "array", "items": items}:
            inner = _type(items, names)
            return f"({inner})[]" if "|" in inner else f"{inner}[]"
        case {"type": "object", "additionalProperties": values}:
            return f"Record<string, {_type(values, names)}>"
        case {"type": "integer"}:
            return "number"
        case {"type": kind}:
            return str(kind)
    return "Value"


if __name__ == "__main__":
    TYPES.write_text(typescript(), "utf-8")

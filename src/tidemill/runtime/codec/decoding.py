"""Values from a tree of JSON and columns of Arrow. Nothing in them is ever called."""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from tidemill.runtime.codec.columns import Block, array_of, frame_of, texts_of
from tidemill.runtime.codec.functions import KnownFunctions
from tidemill.runtime.codec.kinds import tree_class, type_of
from tidemill.runtime.codec.names import attribute_name, class_of, class_version, remembered


class Undecodable(Exception):
    """What a file names is not known here."""


class Decoder:
    """Reads one value. Objects that are there already are filled, where the tree has their like."""

    def __init__(
        self,
        objects: list[Any],
        arrays: Sequence[pa.Array],
        frames: Sequence[pa.Array],
        block: Block,
        known: KnownFunctions,
    ) -> None:
        self._objects = objects
        self.arrays = arrays
        self.frames = frames
        self.block = block
        self.functions = known
        self._read: dict[int, Any] = {}
        self._filled: set[int] = set()

    def value(self, tree: Any, into: Any = None) -> Any:
        """The value of a tree; objects with a state may be filled `into` others."""
        if not isinstance(tree, list):
            if isinstance(tree, dict):
                raise Undecodable("it has a value without a kind")
            return tree
        way = _WAYS.get(tree[0])
        if way is None:
            raise Undecodable(f"it has values of a kind {tree[0]!r} that is not known here")
        return way(self, tree, into)

    def many(self, trees: list[Any], into: Any) -> list[Any]:
        """Values one after the other, into those that are there."""
        like = into if isinstance(into, list | tuple) and len(into) == len(trees) else ()
        targets = [*like, *[None] * (len(trees) - len(like))]
        return [self.value(tree, target) for tree, target in zip(trees, targets, strict=True)]

    def object(self, number: int, into: Any) -> Any:
        """An object by its number, read once."""
        if number not in self._read:
            name, version, content = self._objects[number]
            kind = class_of(name)
            if kind is None:
                raise Undecodable(f"it has objects of a kind {name!r} that is not known here")
            if version != class_version(name):
                raise Undecodable(
                    f"it has {name!r} in version {version}, not {class_version(name)}"
                )
            self._read[number] = self._made(kind, name, content, into)
        return self._read[number]

    def _made(self, kind: type[Any], name: str, content: dict[str, Any], into: Any) -> Any:
        attributes = remembered(kind)
        if attributes is None:
            known = _fields(kind)
        elif into is not None and not isinstance(into, kind):
            raise Undecodable(f"it has {name!r} where the plan has {type(into).__qualname__!r}")
        else:
            known = attributes
        names = {attribute_name(name, each): each for each in known}
        if unknown := content.keys() - names.keys():
            raise Undecodable(f"it has {name!r} with unknown parts: {', '.join(sorted(unknown))}")
        if attributes is None:
            return kind(**{names[each]: self.value(tree) for each, tree in content.items()})
        return self._filled_with(kind, content, into)

    def _filled_with(self, kind: type[Any], content: dict[str, Any], into: Any) -> Any:
        # Two objects may have become one, or one two: what was filled is not filled again.
        fresh = into is None or id(into) in self._filled
        target = object.__new__(kind) if fresh else into
        self._filled.add(id(target))
        for each, tree in content.items():
            before = None if fresh else getattr(target, each, None)
            setattr(target, each, self.value(tree, before))
        return target


def _fields(kind: type[Any]) -> tuple[str, ...]:
    if is_dataclass(kind):
        return tuple(field.name for field in fields(kind))
    return tuple(getattr(kind, "_fields", ()))


_Way = Callable[[Decoder, list[Any], Any], Any]


def _plain(make: Callable[..., Any]) -> _Way:
    return lambda decoder, tree, into: make(*tree[1:])


def _collection(make: Callable[[list[Any]], Any]) -> _Way:
    return lambda decoder, tree, into: make(decoder.many(tree[1], into))


def _dict(decoder: Decoder, tree: list[Any], into: Any) -> Any:
    known = into if isinstance(into, dict) else {}
    pairs = ((decoder.value(key), each) for key, each in tree[1])
    found = {key: decoder.value(each, known.get(key)) for key, each in pairs}
    if type(into) in (dict, type(None)) or not isinstance(into, dict):
        return found
    into.clear()  # a counter, or one with a default
    into.update(found)
    return into


def _enum(decoder: Decoder, tree: list[Any], into: Any) -> Any:
    kind = class_of(tree[1])
    if kind is None or not issubclass(kind, Enum):
        raise Undecodable(f"it has a choice of {tree[1]!r}, which is not known here")
    return kind[tree[2]]


def _objects(decoder: Decoder, tree: list[Any], into: Any) -> Any:
    values = [decoder.value(each) for each in texts_of(decoder.arrays[tree[1]])]
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found.reshape(tree[2])


def _array(decoder: Decoder, tree: list[Any], into: Any) -> Any:
    # Two references to a column are one array.
    key = ~tree[1]
    if key not in decoder._read:
        decoder._read[key] = array_of(decoder.arrays[tree[1]], tree[2], tree[3], decoder.block)
    return decoder._read[key]


def _sql(decoder: Decoder, tree: list[Any], into: Any) -> Any:
    kind = tree_class(tree[1])
    if kind is None:
        raise Undecodable(f"it has SQL of a kind {tree[1]!r} that is not known here")
    return kind(**{key: decoder.value(each) for key, each in tree[2].items()})


_WAYS: dict[str, _Way] = {
    "ref": lambda decoder, tree, into: decoder.object(tree[1], into),
    "float": _plain(float),
    "tuple": _collection(tuple),
    "list": _collection(list),
    "set": _collection(set),
    "frozenset": _collection(frozenset),
    "deque": _collection(deque),
    "dict": _dict,
    "enum": _enum,
    "array": _array,
    "objects": _objects,
    "frame": lambda decoder, tree, into: frame_of(decoder.frames[tree[1]]),
    "series": lambda decoder, tree, into: frame_of(decoder.frames[tree[1]]).to_series(0),
    "type": _plain(type_of),
    "sql": _sql,
    "sqltype": lambda decoder, tree, into: exp.DType[tree[1]],
    "function": lambda decoder, tree, into: decoder.functions.function(*tree[1:]),
    "aggregate": lambda decoder, tree, into: decoder.functions.aggregate(*tree[1:]),
    "bytes": _plain(base64.b64decode),
    "decimal": _plain(Decimal),
    "datetime": _plain(datetime.fromisoformat),
    "date": _plain(date.fromisoformat),
    "time": _plain(time.fromisoformat),
    "timedelta": _plain(timedelta),
}

"""Any record, made from its type: hypothesis strategies for what msgspec describes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import strategies as st
from msgspec import inspect as types

from coldwarm.contracts.reasons import Reason, because, declared, every_code

if TYPE_CHECKING:
    from coldwarm.contracts.base import Record

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def records(type_: type[Record]) -> st.SearchStrategy[Any]:
    """Return a strategy for valid records of a type."""
    return _strategy(types.type_info(type_))


def reasons() -> st.SearchStrategy[Reason]:
    """Return a strategy for reasons of any code, with values of its parameters' types."""
    return st.sampled_from(every_code()).flatmap(
        lambda code: st.fixed_dictionaries(
            {name: _value(kinds) for name, kinds in declared(code).types.items()}
        ).map(lambda values: because(code, **values))
    )


def _value(kinds: tuple[type, ...]) -> st.SearchStrategy[Any]:
    if int in kinds:
        return st.integers(min_value=0, max_value=2**53)
    return st.lists(_TEXT, max_size=3) if list in kinds else _TEXT


@cache
def _struct(type_: type[Any]) -> st.SearchStrategy[Any]:
    described = types.type_info(type_)
    assert isinstance(described, types.StructType)
    required = {f.name: _strategy(f.type) for f in described.fields if f.required}
    optional = {f.name: _strategy(f.type) for f in described.fields if not f.required}
    return st.fixed_dictionaries(required, optional=optional).map(lambda kw: type_(**kw))


def _strategy(described: types.Type) -> st.SearchStrategy[Any]:
    if isinstance(described, types.StructType):
        return reasons() if described.cls is Reason else _struct(described.cls)
    if isinstance(described, types.UnionType):
        return st.one_of([_strategy(part) for part in described.types])
    if isinstance(described, types.ListType):
        return st.lists(_strategy(described.item_type), max_size=3)
    if isinstance(described, types.DictType):
        values = _strategy(described.value_type)
        return st.dictionaries(_strategy(described.key_type), values, max_size=3)
    if isinstance(described, types.LiteralType):
        return st.sampled_from(described.values)
    return _scalar(described)


_SIMPLE: dict[type, st.SearchStrategy[Any]] = {
    types.BoolType: st.booleans(),
    types.NoneType: st.none(),
    types.AnyType: _TEXT | st.booleans() | st.integers(-1000, 1000),  # whatever JSON can hold
}


def _scalar(described: types.Type) -> st.SearchStrategy[Any]:
    if isinstance(described, types.StrType):
        if described.pattern is None:
            return _TEXT
        longest = described.max_length or 1000
        drawn = st.from_regex(described.pattern.replace("$", r"\Z"))
        return drawn.filter(lambda text: len(text) <= longest)
    if isinstance(described, types.IntType):
        return st.integers(min_value=described.ge, max_value=described.le)
    if isinstance(described, types.FloatType):
        above = described.gt is not None
        least = described.gt if above else described.ge
        return st.floats(
            least, described.le, exclude_min=above, allow_nan=False, allow_infinity=False
        )
    if type(described) in _SIMPLE:
        return _SIMPLE[type(described)]
    message = f"no strategy for {described!r}"
    raise NotImplementedError(message)


def plain(record: Record) -> dict[str, Any]:
    """Return a record as plain values, to be spoilt by a test."""
    found: dict[str, Any] = msgspec.to_builtins(record)
    return found

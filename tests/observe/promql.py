"""Evaluates expressions of PromQL over a recorded run, as far as the alert rules use it; promql-parser reads them.

promtool would need Prometheus' own package, which not every machine has. What isn't known here raises, so a rule that
uses more of the language can't pass unseen.
"""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import promql_parser
from promql_parser import (
    AggregateExpr,
    BinaryExpr,
    Call,
    MatchOp,
    MatrixSelector,
    NumberLiteral,
    ParenExpr,
    VectorSelector,
)

from tests.observe.series import Labels, Recording

STALE_S: Final = 300.0  # how far back Prometheus looks for a sample, unless a scrape since had none
NAME: Final = "__name__"
Vector = Mapping[Labels, float]
Value = float | Vector
ARITHMETIC: Final[Mapping[str, Callable[[float, float], float]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul,
    "/": lambda left, right: left / right if right else float("nan"),
}  # fmt: skip
COMPARISONS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    ">": operator.gt, "<": operator.lt, "==": operator.eq, "!=": operator.ne, ">=": operator.ge, "<=": operator.le,
}  # fmt: skip
AGGREGATES: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {
    "sum": sum, "max": max, "min": min, "count": len,
}  # fmt: skip


@dataclass(frozen=True)
class Moment:
    """A moment of a run, at which rules are evaluated: right after a scrape."""

    run: Recording
    index: int

    @property
    def at_s(self) -> float:
        """When it is."""
        return self.run.times_s[self.index]


def evaluate(expression: str, moment: Moment) -> Value:
    """The value of an expression at a moment."""
    return _value(promql_parser.parse(expression), moment)


def _value(node: Any, moment: Moment) -> Value:
    match node:
        case NumberLiteral():
            return float(node.val)
        case ParenExpr():
            return _value(node.expr, moment)
        case VectorSelector():
            return _instant(node, moment)
        case AggregateExpr():
            return _aggregate(node, _vector(node.expr, moment))
        case Call():
            return _call(node, moment)
        case BinaryExpr():
            return _binary(node, moment)
    raise NotImplementedError(f"{type(node).__name__}: {node}")


def _vector(node: Any, moment: Moment) -> Vector:
    value = _value(node, moment)
    assert isinstance(value, Mapping), f"{node} is a number"
    return value


def _selected(selector: VectorSelector, moment: Moment) -> dict[Labels, Sequence[float | None]]:
    assert selector.offset is None and selector.at is None, selector
    found = {}
    for labels, values in moment.run.series.items():
        if (NAME, selector.name) not in labels:
            continue
        named = dict(labels)
        if all(_matches(each, named) for each in selector.matchers.matchers):
            found[labels] = values[: moment.index + 1]
    return found


def _matches(matcher: Any, labels: Mapping[str, str]) -> bool:
    value = labels.get(matcher.name, "")
    match matcher.op:
        case MatchOp.Equal:
            return bool(value == matcher.value)
        case MatchOp.NotEqual:
            return bool(value != matcher.value)
        case MatchOp.Re:
            return re.fullmatch(matcher.value, value) is not None
        case MatchOp.NotRe:
            return re.fullmatch(matcher.value, value) is None
    raise NotImplementedError(str(matcher))


def _instant(selector: VectorSelector, moment: Moment) -> Vector:
    """The samples of the last scrape: a series that it didn't have is stale."""
    return {
        labels: value
        for labels, values in _selected(selector, moment).items()
        if (value := values[-1]) is not None
    }


def _call(node: Call, moment: Moment) -> Value:
    name = node.func.name
    if name == "abs":
        return {_without_name(labels): abs(value) for labels, value in _vector(node.args[0], moment).items()}
    if name == "timestamp":
        return {_without_name(labels): moment.at_s for labels in _vector(node.args[0], moment)}
    if name in ("increase", "changes"):
        [matrix] = node.args
        assert isinstance(matrix, MatrixSelector), node
        range_s = matrix.range.total_seconds()
        function = _increase if name == "increase" else _changes
        found = {}
        for labels, values in _selected(matrix.vector_selector, moment).items():
            samples = [
                (at_s, value)
                for at_s, value in zip(moment.run.times_s, values, strict=False)
                if value is not None and moment.at_s - range_s < at_s
            ]
            if (result := function(samples, moment.at_s, range_s)) is not None:
                found[_without_name(labels)] = result
        return found
    raise NotImplementedError(name)


def _changes(samples: Sequence[tuple[float, float]], at_s: float, range_s: float) -> float | None:
    values = [value for _, value in samples]
    return float(sum(a != b for a, b in itertools.pairwise(values))) if values else None


def _increase(samples: Sequence[tuple[float, float]], at_s: float, range_s: float) -> float | None:
    """As Prometheus computes it: a fall is a restart; the ends of the range are extrapolated to."""
    if len(samples) < 2:
        return None
    values = [value for _, value in samples]
    resets = sum(before for before, after in itertools.pairwise(values) if after < before)
    grown = values[-1] - values[0] + resets
    first_s, last_s = samples[0][0], samples[-1][0]
    sampled_s = last_s - first_s
    average_s = sampled_s / (len(samples) - 1)
    to_start_s, to_end_s = first_s - (at_s - range_s), at_s - last_s
    if to_start_s >= 1.1 * average_s:
        to_start_s = average_s / 2
    if grown > 0 and values[0] >= 0:
        to_start_s = min(to_start_s, sampled_s * values[0] / grown)  # a counter was never below zero
    if to_end_s >= 1.1 * average_s:
        to_end_s = average_s / 2
    return grown * (sampled_s + to_start_s + to_end_s) / sampled_s


def _aggregate(node: AggregateExpr, vector: Vector) -> Vector:
    combine = AGGREGATES[str(node.op)]
    by = None
    if node.modifier is not None:
        assert "By" in str(node.modifier.type), node
        by = {*node.modifier.labels}
    groups: dict[Labels, list[float]] = {}
    for labels, value in vector.items():
        key = tuple((name, text) for name, text in labels if by is not None and name in by)
        groups.setdefault(key, []).append(value)
    return {labels: float(combine(values)) for labels, values in groups.items()}


def _binary(node: BinaryExpr, moment: Moment) -> Value:
    left, right, op = _value(node.lhs, moment), _value(node.rhs, moment), str(node.op)
    if op in ("and", "or", "unless"):
        return _combine(op, node, left, right)
    if isinstance(left, float) and isinstance(right, float):
        return ARITHMETIC[op](left, right)
    pairs: list[tuple[Labels, float, float]]
    if isinstance(left, float):
        raise NotImplementedError(str(node))
    if isinstance(right, float):
        pairs = [(labels, value, right) for labels, value in left.items()]
    else:
        on_right = {_key(labels, node): value for labels, value in right.items()}
        assert len(on_right) == len(right), f"many-to-many: {node}"
        pairs = [
            (_key(labels, node), value, on_right[_key(labels, node)])
            for labels, value in left.items()
            if _key(labels, node) in on_right
        ]
    if op in COMPARISONS:
        return {labels: value for labels, value, other in pairs if COMPARISONS[op](value, other)}
    return {_without_name(labels): ARITHMETIC[op](value, other) for labels, value, other in pairs}


def _combine(op: str, node: BinaryExpr, left: Value, right: Value) -> Vector:
    assert isinstance(left, Mapping) and isinstance(right, Mapping), node
    there, here = {_key(labels, node) for labels in right}, {_key(labels, node) for labels in left}
    if op == "or":
        return {
            **left,
            **{labels: value for labels, value in right.items() if _key(labels, node) not in here},
        }
    return {labels: value for labels, value in left.items() if (_key(labels, node) in there) == (op == "and")}


def _key(labels: Labels, node: BinaryExpr) -> Labels:
    """The labels by which two sides are matched."""
    matching = node.modifier.matching if node.modifier else None
    if matching is None:
        return _without_name(labels)
    named = {*matching.labels}
    is_on = "Include" in str(matching.type)
    return tuple((name, text) for name, text in labels if name != NAME and (name in named) == is_on)


def _without_name(labels: Labels) -> Labels:
    return tuple(each for each in labels if each[0] != NAME)

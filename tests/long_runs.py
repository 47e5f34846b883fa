"""Which cases are `long`: `make test` deselects them, `make test-long` runs them and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest


def long_but_every(
    step: int, values: Iterable[object], name: Callable[[object], str] = str
) -> list[pytest.ParameterSet]:
    """Parameters of a test, one for each value, with its name; all but every `step`th are marked `long`."""
    return [
        pytest.param(value, id=name(value), marks=pytest.mark.long if place % step else ())
        for place, value in enumerate(values)
    ]


def short_and_long(short: object, long: object) -> list[pytest.ParameterSet]:
    """Parameters of a test that is run in two sizes, of which the second is marked `long`."""
    return [pytest.param(short, id="short"), pytest.param(long, id="long", marks=pytest.mark.long)]


def long_after(short: int, values: Iterable[object]) -> list[pytest.ParameterSet]:
    """Parameters of a test, one for each value; all but the first `short` are marked `long`."""
    return [
        pytest.param(value, marks=() if place < short else pytest.mark.long)
        for place, value in enumerate(values)
    ]

"""Which cases are `long`: `make test` deselects them, `make test-long` runs them and nothing else."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def long_after(short: int, values: Iterable[object]) -> list[pytest.ParameterSet]:
    """Parameters of a test, one for each value; all but the first `short` are marked `long`."""
    return [
        pytest.param(value, marks=() if place < short else pytest.mark.long)
        for place, value in enumerate(values)
    ]

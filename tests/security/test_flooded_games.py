"""P8: a small run of the flood figure of `make bench`, with every attack at once on a gateway of its own."""

from __future__ import annotations

import pytest

from tests.bench import floods
from tests.bench.figure import Size


@pytest.mark.long
@pytest.mark.timeout(600)
def test_people_play_on_under_a_flood_and_the_memory_of_the_gateway_is_bounded() -> None:
    figure = floods.measure(Size(quick=True), lambda _: None)
    assert isinstance(figure.parts["moves"], int) and figure.parts["moves"] > 0
    assert isinstance(figure.parts["most_mib"], float) and figure.parts["most_mib"] < floods.MEMORY_MIB

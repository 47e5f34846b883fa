"""`ledgerline play` with bad options: one line that names the option, before a server is started."""

from __future__ import annotations

import json

import pytest

from schemas.errors import InvalidInputError
from services.cli.playing.play import GameOptions, create_game_body

DEEP = "[" * 100_000
LONG = "a" * 5_000


@pytest.mark.parametrize(
    ("named", "options"),
    [
        ("--board", {"board": LONG}),
        ("--board", {"board": "\x00"}),
        ("board", {"board": f"{LONG}.json"}),
        ("--rules", {"rules": LONG}),
        ("--seats", {"seats": LONG}),
        ("--seed", {"seed": "\udc80"}),
        ("--option", {"option": ["cars=NaN"]}),
        ("--option", {"option": ["cars=1e999"]}),
        ("--option", {"option": ["cars=[[[[[[[[[[1]]]]]]]]]]"]}),
        ("--option", {"option": ['cars="\\ud800"']}),
        ("--option", {"option": ["\udc80=1"]}),
        ("--option", {"option": [LONG]}),
    ],
)
def test_SHAPE_1_unreadable_options_are_refused_in_one_line_that_names_them(
    named: str, options: dict[str, object]
) -> None:
    game = {name: value for name, value in options.items() if name != "seats"}
    with pytest.raises(InvalidInputError) as caught:
        create_game_body(GameOptions(**game), str(options.get("seats", "greedy,random")))  # type: ignore[arg-type]
    line = str(caught.value)
    assert line.startswith(f"{named}: ") and line.isprintable() and len(line) < len(LONG) + 300


@pytest.mark.parametrize("value", [DEEP, "9" * 5_000, "plain"])
def test_SHAPE_1_a_value_that_is_not_json_goes_to_the_referee_as_text(value: str) -> None:
    body = create_game_body(GameOptions(option=[f"cars={value}"]), "greedy,random")
    assert json.loads(json.dumps(body, allow_nan=False))["options"] == {"cars": value}

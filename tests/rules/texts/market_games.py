"""The games of usa, europe and marklin, and routes of their boards that the shared sentences are played on."""

from __future__ import annotations

from typing import Final, NamedTuple

import pytest

from schemas.trains.commands import DrawTickets


class MarketGame(NamedTuple):
    """A ruleset with a market, and what of its board the tests use."""

    rules: str
    blue: str  # a blue route of three spaces, single
    gray: str  # a gray route of two spaces, single
    far: str  # a red route of three spaces that touches neither
    doubles: tuple[str, str]  # two parallel routes of two spaces
    double_colors: tuple[str, str]  # what pays for them
    tickets: tuple[str, ...]  # five that its later draws may bring, in its first deck
    deck: str  # that deck
    draw: DrawTickets  # what draws from it alone


MARKET_GAMES: Final = (
    MarketGame(
        "usa",
        "montreal-new-york-a",
        "denver-santa-fe-a",
        "chicago-duluth-a",
        ("kansas-city-saint-louis-a", "kansas-city-saint-louis-b"),
        ("purple", "blue"),
        ("duluth:el-paso", "duluth:houston", "atlanta:new-york", "boston:miami", "calgary:phoenix"),
        "regular",
        DrawTickets(),
    ),
    MarketGame(
        "europe",
        "constantinople-sofia-a",
        "danzig-warszawa-a",
        "kyiv-smolensk-a",
        ("bruxelles-paris-a", "bruxelles-paris-b"),
        ("yellow", "red"),
        ("paris:wien", "madrid:zurich", "smyrna:sofia", "essen:kyiv", "berlin:london"),
        "regular",
        DrawTickets(),
    ),
    MarketGame(
        "marklin",
        "bremen-emden-a",
        "danemark-kiel-a",
        "berlin-magdeburg-a",
        ("augsburg-munchen-a", "augsburg-munchen-b"),
        ("green", "red"),
        ("berlin:chemnitz", "bremen:kassel", "koblenz:ulm", "koln:schweiz", "hamburg:koln"),
        "short",
        DrawTickets({"short": 4}),
    ),
)
IN_EVERY_MARKET_GAME: Final = pytest.mark.parametrize("game", MARKET_GAMES, ids=lambda game: game.rules)

"""The types of train contracts' fields: cards, cities, routes, tickets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from schemas.field_types import Int, Text, one_of, require_printable

COLORS: Final[tuple[str, ...]] = ("purple", "white", "blue", "yellow", "orange", "red", "green", "black")
LOCOMOTIVE: Final = "locomotive"
PLUS_FOUR: Final = "locomotive4"
PASSENGER: Final = "passenger"
CARDS: Final = (*COLORS, LOCOMOTIVE, PLUS_FOUR, PASSENGER)

Color = Annotated[Text, one_of(COLORS)]
Card = Annotated[Text, one_of(CARDS)]

RouteId = Annotated[Text, Field(pattern=r"^[a-z0-9][a-z0-9.-]{0,79}$")]
CityId = Annotated[Text, Field(pattern=r"^[a-z0-9][a-z0-9.-]{0,39}$")]
TicketId = Annotated[Text, Field(pattern=r"^[a-z0-9][a-z0-9.:-]{0,99}$")]
# as a map spells it: other people's maps have names that begin or end with a blank
CityName = Annotated[Text, Field(min_length=1, max_length=40), AfterValidator(require_printable)]
Slot = Annotated[Int, Field(ge=0, le=9)]

CardRow = tuple[Card | None, ...]
TicketRow = tuple[TicketId | None, ...]
Cards = Mapping[Card, Annotated[Int, Field(ge=1, le=250)]]

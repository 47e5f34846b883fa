"""A table, an explained entry and a whole game as JSON values: what `audit --json` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from schemas.commands import write_command
from schemas.events import CommandRefused, write_event
from schemas.field_types import Seat
from services.referee.rules import Table
from services.referee.rules.table import Place
from services.text.commands import speaker, wish
from services.text.events import state
from services.verification.explanation import Explained, Sight

UNKNOWN: Final = "hidden"  # how a thing face down is called where a name must stand


def position(table: Table) -> dict[str, Any]:
    """A table as it lies, as far as its viewer knows it; null is a thing face down."""
    if not table.game:
        return {"state": "nothing"}
    return {
        "state": state(table),
        "at": table.at,
        "turn": table.turn,
        "awaits": {str(seat): choice for seat, choice in table.awaits.items()},
        "market": list(table.market),
        "deck": len(table.deck),
        "next": list(reversed(table.deck[-5:])),
        "discards": held(table.discards),
        "ticket_decks": {name: len(deck) for name, deck in table.ticket_decks.items()},
        "routes": dict(table.owners),
        "stations": dict(table.stations),
        "passengers": dict(table.passengers),
        "seats": [_seat(seat, place) for seat, place in enumerate(table.places)],
    }


def held(cards: Mapping[str | None, int]) -> dict[str, int]:
    """Cards by their kind, without those that there are none of."""
    return {UNKNOWN if card is None else card: n for card, n in cards.items() if n}


def _seat(seat: int, place: Place) -> dict[str, Any]:
    return {
        "seat": seat,
        "name": place.name,
        "points": place.points,
        "cars": place.cars,
        "cards": place.cards,
        "hand": held(place.hand),
        "tickets": list(place.tickets),
        "offer": list(place.offer),
        "stations": dict(place.stations),
        "gone": place.gone,
    }


def explanation(told: Explained) -> dict[str, Any]:
    """An explained entry as a JSON object."""
    entry, refusal = told.entry, told.entry.refusal
    return {
        "number": told.number,
        "at": entry.at,
        "id": entry.id,
        "seat": entry.seat,
        "speaker": speaker(told.after, entry.seat),
        "command": write_command(entry.command),
        "wish": wish(told.before, entry.seat, entry.command),
        "accepted": refusal is None,
        "refusal": _refused(refusal),
        "as_the_rules_say": not told.doubt,
        "doubt": told.doubt or None,
        "rules": [cited._asdict() for cited in told.cited],
        "legal": [write_command(command) for command in told.alternatives],
        "seen": {str(viewer): _sight(sight) for viewer, sight in told.sights.items()},
    }


def explanation_for(told: Explained, seat: Seat) -> dict[str, Any]:
    """The same for one seat while the game runs: of another's command only what that seat saw come of
    it, and of a wrong verdict only that it is wrong, since how it is wrong may tell of hidden cards."""
    whole = explanation(told)
    for hidden in ("doubt", *(() if told.entry.seat == seat else _SPEAKERS_OWN)):
        del whole[hidden]
    whole["seen"] = {str(seat): whole["seen"][str(seat)]}
    return whole


_SPEAKERS_OWN: Final = (  # what nobody but who spoke knows of a command
    "id", "seat", "speaker", "command", "wish", "accepted", "refusal", "as_the_rules_say", "rules", "legal",
)  # fmt: skip


def _refused(refusal: CommandRefused | None) -> dict[str, str] | None:
    return None if refusal is None else {"rule": refusal.rule, "why": refusal.why}


def _sight(sight: Sight) -> dict[str, Any]:
    return {
        "before": position(sight.before),
        "events": [write_event(told.event) for told in sight.told],
        "sentences": [told.sentence for told in sight.told if told.sentence],
        "after": position(sight.after),
    }

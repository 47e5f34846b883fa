"""A game state and an explained entry as JSON values: what `audit --json` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from schemas.commands import write_command
from schemas.events import CommandRefused, write_event
from schemas.field_types import Seat
from schemas.stored.entries import Entry
from services.referee.rules import GameState
from services.referee.rules.seat_state import SeatState
from services.text.commands import describe_command, sender_name
from services.text.game_summary import Json, game_status
from services.verification.explanation import Explanation, ViewerPerspective

HIDDEN_NAME: Final = "hidden"  # stands for a card face down where a name is needed


def game_state_json(state: GameState) -> Json:
    """A state as far as its viewer knows it; null is a card or ticket face down."""
    if not state.game:
        return {"state": "nothing"}
    return {
        "state": game_status(state),
        "at": state.at_ms,
        "turn": state.turn,
        "awaits": {str(seat): choice for seat, choice in state.pending_choices.items()},
        "market": list(state.market),
        "deck": len(state.deck),
        "next": list(reversed(state.deck[-5:])),
        "discards": card_counts(state.discards),
        "ticket_decks": {name: len(deck) for name, deck in state.ticket_decks.items()},
        "routes": dict(state.route_owners),
        "stations": dict(state.station_owners),
        "passengers": dict(state.passenger_owners),
        "seats": [_seat_json(seat, seat_state) for seat, seat_state in enumerate(state.seats)],
    }


def card_counts(cards: Mapping[str | None, int]) -> dict[str, int]:
    """Cards by color, without those of count 0."""
    return {HIDDEN_NAME if card is None else card: n for card, n in cards.items() if n}


def _seat_json(seat: int, seat_state: SeatState) -> Json:
    return {
        "seat": seat,
        "name": seat_state.name,
        "points": seat_state.running_score,
        "cars": seat_state.cars,
        "cards": seat_state.cards,
        "hand": card_counts(seat_state.hand),
        "tickets": list(seat_state.tickets),
        "offer": list(seat_state.offer),
        "stations": dict(seat_state.stations),
        "gone": seat_state.exit_reason,
    }


def explanation_json(explained: Explanation) -> Json:
    """An explained entry as a JSON object."""
    entry, refusal = explained.entry, explained.entry.refusal
    return {
        "number": explained.sequence,
        "at": entry.at,
        "id": shown_id(entry),
        "seat": entry.seat,
        "speaker": sender_name(explained.after, entry.seat),
        "command": write_command(entry.command),
        "wish": describe_command(explained.before, entry.seat, entry.command),
        "accepted": refusal is None,
        "refusal": _refusal_json(refusal),
        "as_the_rules_say": not explained.doubt,
        "doubt": explained.doubt or None,
        "rules": [citation._asdict() for citation in explained.cited],
        "legal": [write_command(command) for command in explained.alternatives],
        "seen": {
            str(viewer): _perspective_json(perspective)
            for viewer, perspective in explained.perspectives.items()
        },
    }


def shown_id(entry: Entry) -> str | None:
    """The id of a seat's command. That of a system command, which the gateway derives from a client's key, is left out."""
    return None if entry.seat is None else entry.id


def seat_explanation_json(explained: Explanation, seat: Seat) -> Json:
    """An explained entry as one seat may read it while the game runs.

    Another's command is left out, and how a verdict is wrong: that may reveal hidden cards."""
    payload = explanation_json(explained)
    for field in ("doubt", *(() if explained.entry.seat == seat else _SENDER_ONLY_FIELDS)):
        del payload[field]
    payload["seen"] = {str(seat): payload["seen"][str(seat)]}
    return payload


_SENDER_ONLY_FIELDS: Final = (  # what only the sender knows of its command
    "id", "seat", "speaker", "command", "wish", "accepted", "refusal", "as_the_rules_say", "rules", "legal",
)  # fmt: skip


def _refusal_json(refusal: CommandRefused | None) -> dict[str, str] | None:
    return None if refusal is None else {"rule": refusal.rule, "why": refusal.why}


def _perspective_json(perspective: ViewerPerspective) -> Json:
    return {
        "before": game_state_json(perspective.before),
        "events": [write_event(narrated.event) for narrated in perspective.narrated_events],
        "sentences": [narrated.sentence for narrated in perspective.narrated_events if narrated.sentence],
        "after": game_state_json(perspective.after),
    }

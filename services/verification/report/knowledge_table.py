"""What each viewer knew before the disputed move, as a table of the arbiter's page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from schemas.field_types import Seat
from services.referee.rules import GameState
from services.referee.rules.seat_state import SeatState
from services.text.commands import sender_name
from services.text.formatting import city_name, format_cards, pluralize
from services.verification.explanation import Explanation

MAX_NEXT_CARDS: Final = 5  # cards of the deck that are shown: a draw takes no more of them


class KnowledgeRow(NamedTuple):
    """What each viewer knew of one thing; each cell has one part or more. One cell stands for all viewers where they
    knew the same."""

    name: str
    cells: Sequence[Sequence[str]]

    @property
    def is_same_for_all(self) -> bool:
        return len(self.cells) == 1


def knowledge_rows(explanation: Explanation) -> list[KnowledgeRow]:
    """What each viewer knew before the entry: of the market, of the deck, and of each seat."""
    if not explanation.before.game:
        return []
    states = [perspective.before for perspective in explanation.perspectives.values()]
    return [
        _row("Market", [[_market_text(state)] for state in states]),
        _row("Deck", [[_deck_text(state)] for state in states]),
        *(
            _row(sender_name(explanation.before, seat), [_holding(state, seat) for state in states])
            for seat in range(len(explanation.before.seats))
        ),
    ]


def _row(name: str, cells: Sequence[Sequence[str]]) -> KnowledgeRow:
    """A row of one cell a viewer, or of one cell where they are all equal."""
    return KnowledgeRow(name, cells[:1] if all(cell == cells[0] for cell in cells) else cells)


def _market_text(state: GameState) -> str:
    return ", ".join(card or "-" for card in state.market) or "none"


def _deck_text(state: GameState) -> str:
    text = pluralize(len(state.deck), "card")
    next_cards = [card for card in reversed(state.deck[-MAX_NEXT_CARDS:]) if card is not None]
    return f"{text}; next: {', '.join(next_cards)}" if next_cards else text


def _holding(state: GameState, seat: Seat) -> list[str]:
    seat_state = state.seats[seat]
    known_tickets = [ticket for ticket in seat_state.tickets if ticket is not None]
    offered = [ticket for ticket in seat_state.offer if ticket is not None]
    parts = [
        f"{pluralize(seat_state.cards, 'card')}{_hand_text(seat_state)}",
        f"{pluralize(len(seat_state.tickets), 'ticket')}{_tickets_text(state, known_tickets)}",
    ]
    if seat_state.offer:
        parts.append(f"is offered {len(seat_state.offer)}{_tickets_text(state, offered)}")
    return parts


def _hand_text(seat_state: SeatState) -> str:
    """The cards that the viewer knows of, and how many more there are."""
    known_cards = {card: n for card, n in seat_state.hand.items() if card is not None and n > 0}
    hidden = seat_state.cards - sum(known_cards.values())
    parts = [format_cards(known_cards)] if known_cards else []
    parts += [f"{hidden} hidden"] if hidden else []
    return f": {', '.join(parts)}" if known_cards else ""


def _tickets_text(state: GameState, tickets: Sequence[str]) -> str:
    board_tickets = [state.board.tickets[ticket] for ticket in tickets]
    texts = (f"{city_name(state, t.a)} - {city_name(state, t.b)} ({t.points})" for t in board_tickets)
    return f": {', '.join(texts)}" if board_tickets else ""

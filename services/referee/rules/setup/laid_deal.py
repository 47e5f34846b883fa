"""A position in which nobody has been dealt anything yet: its decks lie as they were given, and the game begins
with the deal (schemas/positions.py)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from schemas.positions import Position
from schemas.refusals import require
from schemas.rule_options import RuleOptions
from services.referee.rules.board import Board, Ticket
from services.referee.rules.ruleset import Ruleset


def require_laid_deal(
    ruleset: Ruleset, rule_options: RuleOptions, board: Board, seats: int, position: Position
) -> None:
    """Everything can be dealt from the decks of such a position. Raises CommandRefusedError: GAME-6, which names
    the wrong entry, or what the ruleset says of too few tickets."""
    for field in ("hands", "tickets"):
        reason = f"position.{field}: nobody has any before the deal (position.turn is null)"
        require(not any(getattr(position, field)), "GAME-6", reason)
    if position.deck is not None:
        dealt_count = seats * rule_options.hand + rule_options.market
        reason = f"position.deck: {len(position.deck)} cards, {dealt_count} are dealt at the start"
        require(len(position.deck) >= dealt_count, "GAME-6", reason)
    tickets = {ticket.id: ticket for ticket in _tickets_in_decks(board, position)}
    ruleset.require_enough_tickets(rule_options, replace(board, tickets=tickets), seats)


def _tickets_in_decks(board: Board, position: Position) -> Iterator[Ticket]:
    """The tickets that lie in decks: those that were given, and all of the board in the other decks."""
    given = position.ticket_decks or {}
    yield from (ticket for ticket in board.tickets.values() if ticket.deck not in given)
    for deck, forms in given.items():
        for index, form in enumerate(forms):
            yield Ticket(f"{deck}/{index}", *form.between, form.points, deck)

"""The map of a tournament: the first of those that players suggest on which its largest game can begin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schemas.boards.form import BoardForm
from schemas.errors import LedgerlineError
from schemas.refusals import CommandRefusedError
from services.trains.given_cards import TooFewDestinationsError, start_game
from services.trains.player_state import MAX_SEATS


def choose_map(suggestions: Iterable[BoardForm], players: int, cards: Sequence[str]) -> BoardForm:
    """The first suggested map on which the largest game of so many players can begin, with these cards.

    Raises what forbids a game on the last of them, where there is none: TooFewDestinationsError (also where
    nothing is suggested), or CommandRefusedError."""
    refusal: LedgerlineError = TooFewDestinationsError("nobody suggests a map")
    for form in suggestions:
        try:
            start_game(form, min(players, MAX_SEATS), cards)
        except (TooFewDestinationsError, CommandRefusedError) as error:
            refusal = error
        else:
            return form
    raise refusal

"""The map of a tournament: the first of those that players suggest on which its largest game can begin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schemas.boards.form import BoardForm
from schemas.codec import pack_envelope
from schemas.commands import CommandEnvelope
from schemas.errors import InvalidInputError, LedgerlineError
from schemas.refusals import CommandRefusedError
from services.trains.given_cards import GAME_ID, TooFewDestinationsError, creation_command, start_game
from services.trains.player_state import MAX_SEATS


def choose_map(suggestions: Iterable[BoardForm], players: int, cards: Sequence[str] | None) -> BoardForm:
    """The first suggested map on which the largest game of so many players can begin, with these cards, or with
    shuffled ones (None).

    Raises what forbids a game on the last of them, where there is none: TooFewDestinationsError (also where
    nothing is suggested), CommandRefusedError, or InvalidInputError (the map is too large for a log)."""
    refusal: LedgerlineError = TooFewDestinationsError("nobody suggests a map")
    for form in suggestions:
        try:
            require_game(form, min(players, MAX_SEATS), cards)
        except (TooFewDestinationsError, CommandRefusedError, InvalidInputError) as error:
            refusal = error
        else:
            return form
    raise refusal


def require_game(form: BoardForm, seats: int, cards: Sequence[str] | None) -> None:
    """Such a game can be created and begin. Raises what `choose_map` does."""
    pack_envelope(CommandEnvelope("new", GAME_ID, None, creation_command(form, seats, cards)))
    start_game(form, seats, cards)

"""The folded games of a referee, and how much memory they take."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Sized
from typing import TYPE_CHECKING, Final

from services.referee.rules.board import is_built_in

if TYPE_CHECKING:
    from services.referee.game_cache import CachedGame
    from services.referee.rules import GameState
    from services.referee.rules.board import Board

# Measured on the golden games, at three moments of each: within a third of what restored ones take. One that was
# created here, and never packed, takes a seventh more.
GAME_BYTES: Final = 4 * 1_024
NEW_GAME_BYTES: Final = 16 * 1_024  # of a game that is still to be created
SEAT_BYTES: Final = 2 * 1_024
FARE_BYTES: Final = 64  # of the board
PART_BYTES: Final = 20  # of a seat's route, or of a card of a pile
ENTRY_BYTES: Final = 12  # the id of its command
BOARD_PART_BYTES: Final = 1_024  # of a board, for each city, route and ticket
MEASURED_AGAIN: Final = 2  # as soon as a game has so many times the entries


def folded_bytes(state: GameState, entries: int) -> int:
    """About how much memory a folded game of so many entries takes, without its board."""
    if not state.game:
        return NEW_GAME_BYTES
    piles: list[Sized] = [state.deck, *state.ticket_decks.values()]
    for seat_state in state.seats:
        piles += (seat_state.tickets, seat_state.routes)
    return (
        GAME_BYTES
        + SEAT_BYTES * len(state.seats)
        + FARE_BYTES * len(state.board.fares)
        + PART_BYTES * sum(map(len, piles))
        + ENTRY_BYTES * entries
    )


def board_bytes(board: Board) -> int:
    """About how much memory a board takes that isn't loaded anyway."""
    return (
        0
        if is_built_in(board)
        else BOARD_PART_BYTES * (len(board.cities) + len(board.routes) + len(board.tickets))
    )


class HotGames:
    """Folded games by id, the one that was asked for the longest ago first."""

    def __init__(self) -> None:
        self.total_bytes = 0
        self._games: OrderedDict[str, CachedGame] = OrderedDict()
        self._sizes: dict[str, tuple[int, int, Board | None]] = {}  # bytes, entries then, board
        self._board_uses: Counter[int] = Counter()

    def __contains__(self, game: str) -> bool:
        return game in self._games

    def __len__(self) -> int:
        return len(self._games)

    def get(self, game: str) -> CachedGame | None:
        """The game, which was asked for last from now on."""
        cached_game = self._games.get(game)
        if cached_game is not None:
            self._games.move_to_end(game)
            if cached_game.length >= MEASURED_AGAIN * self._sizes[game][1]:
                self._forget_size(game)
                self._measure(game, cached_game)
        return cached_game

    def add(self, game: str, cached_game: CachedGame) -> None:
        """Keep a game that isn't here."""
        self._games[game] = cached_game
        self._measure(game, cached_game)

    def pop(self, game: str) -> CachedGame | None:
        """Take a game out; None if it isn't here."""
        cached_game = self._games.pop(game, None)
        if cached_game is not None:
            self._forget_size(game)
        return cached_game

    def pop_oldest(self) -> tuple[str, CachedGame]:
        """Take out the game that was asked for the longest ago. Raises KeyError: there is none."""
        game, cached_game = self._games.popitem(last=False)
        self._forget_size(game)
        return game, cached_game

    def _measure(self, game: str, cached_game: CachedGame) -> None:
        state, entries = cached_game.state, max(1, cached_game.length)
        board = state.board if state.game else None  # it has none before it is created
        size = folded_bytes(state, entries)
        self._sizes[game] = size, entries, board
        self.total_bytes += size
        if board is not None:
            self._board_uses[id(board)] += 1
            if self._board_uses[id(board)] == 1:
                self.total_bytes += board_bytes(board)

    def _forget_size(self, game: str) -> None:
        size, _, board = self._sizes.pop(game)
        self.total_bytes -= size
        if board is not None:
            self._board_uses[id(board)] -= 1
            if not self._board_uses[id(board)]:
                del self._board_uses[id(board)]
                self.total_bytes -= board_bytes(board)

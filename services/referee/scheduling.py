"""What follows from a game that is over: the next game of its play-off (TIE-1).

The entry that ends a game by calling a play-off leaves the game among the due ones, in the
same breath. It stays there until the new game is created and started, each by a letter of
the house under an id that is always the same. So a crash between two steps only means that
the next look takes the next step; and of the letters that two referees, or one that begins
again, put down twice, each has one verdict (P2).
"""

from __future__ import annotations

from typing import Final

from schemas.commands import Letter, StartGame
from schemas.contract import Malformed
from services.ledger import Full, Ledger, Turn
from services.referee.rules import Table
from services.referee.rules.moves.play_off import next_game
from services.runtime.logging_setup import get_log

log = get_log("referee")
SILENT_MS: Final = 30_000  # of a bot, before it is called again
CREATE_ID: Final = "play-off:create"  # ids that begin so are the house's own: see the gateway's door
START_ID: Final = "play-off:start"


def due_at(table: Table) -> int | None:
    """When a referee must look at the game again, by the house's time: a clock runs out then,
    another game is to follow, or a bot was silent for so long that what called it may be lost.
    None where nothing is to be done."""
    if table.called is not None:
        return table.opened + table.at
    deadline = table.next_deadline()
    moments = [deadline[0]] if deadline else []
    if table.started and not table.over and any(table.places[seat].policy for seat in table.awaits):
        moments.append(table.at + SILENT_MS)
    return table.opened + min(moments) if moments else None


def calls(table: Table, number: int) -> list[Turn]:
    """Notes to the bots that the table waits for, as of this entry."""
    places = table.places
    return [
        Turn(table.game, seat, number, policy) for seat in table.awaits if (policy := places[seat].policy)
    ]


def follow(ledger: Ledger, table: Table) -> bool:
    """Put down the next letter towards the game that follows from this one. True when there
    is none left to put down: that game has started, or it can't be had."""
    following = next_game(table)
    if following is None:
        return True
    game, create = following
    for letter in (Letter(CREATE_ID, game, None, create), Letter(START_ID, game, None, StartGame())):
        answer = ledger.answer(game, None, letter.id)
        if answer is None:
            return not _submit(ledger, letter, table.game)
        if not answer.number:
            _tell(letter, table.game, f"{answer.rule}, {answer.why}")
            return True
    return True


def _submit(ledger: Ledger, letter: Letter, of: str) -> bool:
    try:
        ledger.submit(letter)
    except Malformed as error:  # a board that just fitted into the first game's letter
        _tell(letter, of, str(error))
        return False
    except Full:  # the game stays due, and the next look tries again
        pass
    return True


def _tell(letter: Letter, of: str, why: str) -> None:
    log.error("play-off stopped", game=letter.game, of=of, command=letter.id, why=why)

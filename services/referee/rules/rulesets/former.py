"""Earlier versions of the rulesets. A game is played to its end, and its log is decided again at any later
time, by the version that its log names (P4).

Each version is made from the one after it, by undoing what changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from services.referee.rules.fair_randomness import SERVER_SEED
from services.referee.rules.moves.market import (
    shuffle_all_together,
    shuffle_discards_under,
    within_flush_limit,
    within_reshuffle_limit,
)
from services.referee.rules.moves.tickets import DRAW_MIX, DRAW_MIX_IN_PART, return_tickets
from services.referee.rules.ruleset import Ruleset
from services.referee.rules.rulesets.europe import EUROPE
from services.referee.rules.rulesets.marklin import MARKLIN
from services.referee.rules.rulesets.trains import TRAINS
from services.referee.rules.rulesets.usa import USA
from services.referee.rules.setup.deal import (
    continue_after_seat_choice,
    return_hand_and_offer,
    shuffle_after_seat_choice,
)
from services.referee.rules.setup.validation import accept_board, require_connections

T = TypeVar("T")
PARTS_BEFORE_4: Final[Mapping[Any, Any]] = {  # Any: parts of all kinds, each with the one that it replaced
    DRAW_MIX: DRAW_MIX_IN_PART,
    shuffle_all_together: shuffle_discards_under,
    within_reshuffle_limit: within_flush_limit,
    require_connections: accept_board,
    return_hand_and_offer: return_tickets,
    continue_after_seat_choice: shuffle_after_seat_choice,
}


def before_4(part: T) -> T:
    """What was in this part's place before version 4: another part, or the same."""
    former: T = PARTS_BEFORE_4.get(part, part)
    return former


def version_3(current: Ruleset) -> Ruleset:
    """Version 3: shuffled discards went under the rest of the deck, five flushes in a row were the most, a mix
    of tickets that the decks couldn't supply was drawn in part, a seat that was removed before it had chosen
    gave back its offer only, which was shuffled in, and any board would do."""
    return replace(
        current,
        version=3,
        moves={choice: tuple(map(before_4, moves)) for choice, moves in current.moves.items()},
        rebuild_deck=before_4(current.rebuild_deck),
        may_flush=before_4(current.may_flush),
        require_board=before_4(current.require_board),
        return_unchosen=before_4(current.return_unchosen),
        after_start_choice=before_4(current.after_start_choice),
    )


def version_2(current: Ruleset) -> Ruleset:
    """Version 2: every shuffle followed from the server's seed alone, the one thing committed to."""
    return replace(version_3(current), version=2, randomness=SERVER_SEED)


def version_1(current: Ruleset) -> Ruleset:
    """Version 1: no time limit for a move unless the game set one."""
    rule_options = replace(current.rule_options, move_ms=None)
    return replace(version_2(current), version=1, rule_options=rule_options)


FORMER_VERSIONS: Final[tuple[Ruleset, ...]] = tuple(
    make_version(ruleset)
    for make_version in (version_1, version_2, version_3)
    for ruleset in (USA, EUROPE, MARKLIN, TRAINS)
)

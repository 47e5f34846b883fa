"""Names that look alike, by Unicode's table of letters that are confused (UTS #39), as a library keeps it.

Nobody sits beside whom it imitates. The rules decide on commitments and see no name, so a referee compares names before it
salts them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from typing import Final

from confusable_homoglyphs.utils import load

from schemas.commands import POLICIES, Command, CreateGame, SeatPlan, TakeSeat
from services.referee.games import UnloggedRejectionError
from services.referee.games.create_game import default_bot_name

BIDI_MARK: Final = "\u200e"  # the library puts it around letters that are written from the right
_NUMBER_AT_END: Final = re.compile(r"[\W_]*\d+[\W_]*$")  # as bots have one


def look_alike(one: str, other: str) -> bool:
    """Whether two names look the same, or would in small letters."""
    return not _skeletons(one).isdisjoint(_skeletons(other))


def imitates_bot(name: str) -> bool:
    """Whether a name looks like a policy's, with a number or without."""
    looks = _skeletons(name) | _skeletons(_NUMBER_AT_END.sub("", unicodedata.normalize("NFKC", name)))
    return not looks.isdisjoint(_bot_skeletons())


def require_own_names(command: Command) -> None:
    """Refuse names of people that imitate bots, and names in one plan that look alike. Raises UnloggedRejectionError
    (GAME-4, GAME-6)."""
    if isinstance(command, TakeSeat) and command.name is not None and imitates_bot(command.name):
        raise UnloggedRejectionError("GAME-4", f"name: {command.name} looks like a bot's; these are for bots")
    if not isinstance(command, CreateGame) or command.play_off is not None or command.fork is not None:
        return  # whoever comes from an earlier game has its name from there
    names: dict[int, str] = {}
    for seat, plan in enumerate(command.seats):
        if (name := _planned_name(plan, seat)) is None:
            continue
        if plan.kind == "human" and imitates_bot(name):
            raise UnloggedRejectionError("GAME-6", f"seats.{seat}.name: {name} looks like a bot's")
        for earlier, taken in names.items():
            if look_alike(name, taken):
                reason = f"seats.{seat}.name: {name} looks like the name of seat {earlier}"
                raise UnloggedRejectionError("GAME-6", reason)
        names[seat] = name


def _planned_name(plan: SeatPlan, seat: int) -> str | None:
    return plan.name or (default_bot_name(plan.policy, seat) if plan.kind == "bot" else None)


def _skeletons(name: str) -> frozenset[str]:
    """What a name looks like, as it is written and in small letters."""
    composed = unicodedata.normalize("NFKC", name)
    return frozenset(_skeleton(" ".join(text.split())) for text in (composed, composed.casefold()))


def _skeleton(text: str) -> str:
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).translate(_prototypes()))


@cache
def _bot_skeletons() -> frozenset[str]:
    return frozenset[str]().union(*map(_skeletons, POLICIES))


@cache
def _prototypes() -> Mapping[int, str]:
    """By letter, what stands for all that look like it.

    The table lists with each letter all others of its kind where it stands for them, and else the one that does."""
    table: Mapping[str, list[dict[str, str]]] = load("confusables.json")
    prototypes = {}
    for marked, others in table.items():
        letter, other = marked.strip(BIDI_MARK), others[0]["c"].strip(BIDI_MARK)
        if len(letter) == len(others) == 1:
            stands = len(table[others[0]["c"]]) > 1 or len(other) > 1 or other < letter
            prototypes[ord(letter)] = other if stands else letter
    return prototypes

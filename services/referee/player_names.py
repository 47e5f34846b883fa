"""Names that players give: nobody takes one that looks like another's, and the log gets commitments to them; the names lie
beside it, with their salts.

The rules decide on commitments alone, so every verdict can be decided again after a name was erased. They refuse a name
that somebody at the table has (GAME-4): so one name at one table has one commitment, and who brings a name that is there
already, or one that looks like it, is given the commitment that it has. The name of who sat at a seat that is freed leaves
with it.

What looks alike is said by Unicode's table of letters that are confused (UTS #39), as a library has it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final, NamedTuple

from confusable_homoglyphs.utils import load

from schemas.commands import POLICIES, Command, CommandEnvelope, CreateGame, FreeSeat, SeatPlan, TakeSeat
from schemas.events import Event, SeatFreed
from schemas.field_types import MAX_SEATS
from schemas.stored.player_names import SaltedName, SaltedNames, by_commitment, committed_names
from services.referee.games import GameState, UnloggedRejectionError
from services.referee.games.create_game import default_bot_name

NAMING: Final = frozenset((TakeSeat, CreateGame, FreeSeat))  # the commands that bring names, or take one away
BIDI_MARK: Final = "\u200e"  # the library puts it around letters that are written from the right
_NUMBER_AT_END: Final = re.compile(r"[\W_]*\d+[\W_]*$")  # as bots have one


class SaltedEnvelope(NamedTuple):
    """An envelope as it is decided and logged, and the names that its command brought."""

    envelope: CommandEnvelope
    names: SaltedNames
    leaving: str | None = None  # the commitment to the name of who sits where the command frees a seat

    def left_by(self, events: Sequence[Event]) -> Sequence[str]:
        """The commitments whose names leave the table by these events."""
        frees = any(isinstance(event, SeatFreed) for event in events)
        return [self.leaving] if frees and self.leaving is not None else ()

    def kept_beside(self, events: Iterable[Event]) -> Sequence[SaltedName]:
        """The names that these events commit to, in the order of their commitments. No others are kept."""
        if not self.names:
            return ()
        return [self.names[commitment] for commitment in sorted(committed_names([*events]) & {*self.names})]


def salt_names(
    envelope: CommandEnvelope, state: GameState, known_names: SaltedNames, new_seed: Callable[[], str]
) -> SaltedEnvelope:
    """Replace the names in a command by commitments. `state` is the game's before it, `known_names` are those that lie
    beside its log; `new_seed` returns 64 hex digits that nobody can guess."""
    command = envelope.command
    if isinstance(command, FreeSeat) and command.seat < len(state.seats):
        return SaltedEnvelope(envelope, {}, state.seats[command.seat].name_commitment)
    names: list[SaltedName] = []
    at_table = {seat_state.name_commitment for seat_state in state.seats}

    def commit(name: str) -> str:
        known = (
            each for each, salted in known_names.items() if each in at_table and look_alike(salted.name, name)
        )
        commitment = next(known, None)
        if commitment is not None:
            return commitment
        names.append(SaltedName(bytes.fromhex(new_seed()), name))
        return names[-1].commitment

    if isinstance(command, TakeSeat):
        if command.name is None:
            return SaltedEnvelope(envelope, {})
        command = replace(command, name=None, name_commitment=commit(command.name))
    elif isinstance(command, CreateGame):
        plans = tuple(_salt_plan(plan, commit) for plan in command.seats)
        command = replace(command, seats=plans)
    return SaltedEnvelope(replace(envelope, command=command), by_commitment(names))


def without_names(envelope: CommandEnvelope, new_seed: Callable[[], str]) -> CommandEnvelope:
    """The envelope with commitments to names that nobody keeps, to be set aside where no erasure looks."""
    return salt_names(envelope, GameState(), {}, new_seed).envelope


def _salt_plan(plan: SeatPlan, commit: Callable[[str], str]) -> SeatPlan:
    """The name that the server gives a bot is no person's and stays."""
    own_names = [default_bot_name(plan.policy, seat) for seat in range(MAX_SEATS)] if plan.policy else []
    if plan.name is None or plan.name in own_names:
        return plan
    return replace(plan, name=None, name_commitment=commit(plan.name))


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

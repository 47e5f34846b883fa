"""Names that players give: the log gets commitments to them, and the names lie beside it, with their salts.

The rules decide on commitments alone, so every verdict can be decided again after a name was erased. They refuse a name
that somebody at the table has (GAME-4): so one name at one table has one commitment, and who brings a name that is there
already, or one that looks like it, is given the commitment that it has. The name of who sat at a seat that is freed leaves
with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from schemas.commands import CommandEnvelope, CreateGame, FreeSeat, SeatPlan, TakeSeat
from schemas.events import Event, SeatFreed
from schemas.field_types import MAX_SEATS
from schemas.stored.player_names import SaltedName, SaltedNames, by_commitment, committed_names
from services.referee.alike_names import look_alike
from services.referee.games import GameState
from services.referee.games.create_game import default_bot_name

NAMING: Final = frozenset((TakeSeat, CreateGame))  # the commands that bring names


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
    if command.__class__ not in NAMING:
        return SaltedEnvelope(envelope, {})
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

"""Record golden games: `python -m tests.golden.record [--again] [NAME ..]`, without names all of them.

A golden file is a game's log as it was stored, with the game's document on the day it was recorded.
However the code changes, these games must come out the same. So a game that has a file isn't recorded
anew. `--again` does so, until a release has frozen the file (deploy/make_release.py): from then on files are only ever added.
"""

from __future__ import annotations

import json
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

from deploy.make_release import read_frozen
from schemas.commands import (
    AnswerUndo,
    AskUndo,
    CallTime,
    Command,
    CommandEnvelope,
    EndGame,
    ForkGame,
    Leave,
    StartGame,
    read_command,
)
from schemas.field_types import MAX_SEATS, Seat
from schemas.stored.entries import Entry
from schemas.stored.hash_chain import initial_head
from schemas.stored.player_names import SaltedNames
from services.bots.policies import POLICIES
from services.bots.seat_random import SeatRandom
from services.referee.games import GameState, UnloggedRejectionError, decide_envelope, legal
from services.referee.games.proof.pile_tracker import PileTracker
from services.referee.games.proof.sealing import ChainState, seal_entry
from services.referee.games.trains.setup.fork import fork_command
from services.referee.player_names import salt_names
from services.text.sentences import game_summary_json
from tests.golden.scenario import Forked, Scenario, ScriptedCommand
from tests.golden.scenarios import SCENARIOS
from tests.golden.wrong_commands import any_command, respelled

HERE = Path(__file__).parent
CREATED = 1_790_000_000_000  # by the wall clock
OPENED = 5_400_000  # by the game clock
STEP_MS = 1_500
ABANDONED_MS = 129_600_000  # half of the time of a move, after which a host may end the game
PERSON = "person"
FRESH = "00" * 32  # the seed of a game that names none, and the salt of every name


class Recorder:
    """A game played on the pure core: a command every STEP_MS while any seat acts."""

    def __init__(self, game: str, scenario: Scenario) -> None:
        self.game, self.scenario, self.state = game, scenario, GameState()
        self.rng = Random(scenario.seed)
        self.moves = [0] * MAX_SEATS
        self.log: list[bytes] = []
        self.chain_state, self.piles = ChainState(0, initial_head(game), {}), PileTracker()
        self.names: SaltedNames = {}  # beside the log
        self.events = self.steps = self.at_ms = 0

    def send(self, seat: Seat | None, command: Command) -> None:
        salted = salt_names(
            CommandEnvelope(f"c{self.steps}", self.game, seat, command), self.state, self.names, lambda: FRESH
        )
        envelope, self.names = salted.envelope, {**self.names, **salted.names}
        now = OPENED + self.at_ms
        self.steps += 1
        self.at_ms += STEP_MS
        try:
            events = decide_envelope(self.state, envelope, now, FRESH, created_at_ms=CREATED)
        except UnloggedRejectionError:
            assert self.log, "the game can't be created"
            return  # it leaves no entry
        entry = Entry(self.state.at_ms, envelope.id, seat, envelope.command, events)
        sealed = seal_entry(self.state, self.chain_state, self.piles, entry)
        self.log.append(sealed.entry)
        self.chain_state = self.chain_state.after(sealed)
        self.events += len(events)

    def play(self) -> None:
        """Play from the creation to the end of the game."""
        fork = self.scenario.fork
        self.send(None, fork_creation(fork) if fork else read_command(creation_json(self.scenario)))
        self.send_script(self.scenario.before)
        self.send(None, StartGame())
        self.send_script(self.scenario.script)
        while not self.state.result:
            deadline = self.state.next_deadline()
            if deadline and self.scenario.absent is not None and self.steps > self.scenario.absent:
                self.at_ms = max(self.at_ms, deadline[0])
            if deadline and deadline[0] <= self.at_ms:
                self.send(None, CallTime(deadline[1]))
            else:
                seat = min(self.state.pending_choices)
                self.send(seat, self.next_command(seat))
                self.take_back()

    def take_back(self) -> None:
        """Take the last move back, if it can be; each who is asked agrees with it half the time."""
        undo = self.state.undo
        if undo is None or self.rng.random() >= self.scenario.undo:
            return
        self.send(undo.seat, AskUndo())
        while (undo := self.state.undo) and undo.waiting:
            self.send(undo.waiting[0], AnswerUndo(self.rng.random() < 0.5))

    def send_script(self, commands: Iterable[ScriptedCommand]) -> None:
        for seat, command in commands:
            if command["type"] == EndGame.type and self.state.started:
                self.at_ms += ABANDONED_MS
            self.send(seat, read_command(dict(command)))

    def next_command(self, seat: Seat) -> Command:
        """The command that the seat sends now."""
        scenario, state = self.scenario, self.state
        if scenario.leave is not None and self.steps > scenario.leave:
            return Leave()
        if scenario.mischief and self.rng.random() < scenario.mischief:
            return any_command(self.rng, state, seat)
        if scenario.always and state.turn is not None:
            always = read_command(dict(scenario.always))
            if any(move.command is type(always) for move in state.ruleset.moves[state.pending_choices[seat]]):
                return always
        chosen = self.choice(seat)
        return respelled(self.rng, state, chosen) if scenario.mischief else chosen

    def choice(self, seat: Seat) -> Command:
        """The command that the seat's policy chooses."""
        seat_state = self.state.seats[seat]
        rng = SeatRandom(seat_state.seat_secret or f"{seat:064x}", self.moves[seat])
        self.moves[seat] += 1
        return POLICIES[seat_state.policy or "random"](self.state, seat, legal(self.state, seat), rng)


def creation_json(scenario: Scenario) -> dict[str, Any]:
    """The command that creates the scenario's game, as JSON."""
    plans: list[dict[str, Any]] = []
    for seat, policy in enumerate(scenario.seats.split()):
        plan = {"kind": "human"} if policy == PERSON else {"kind": "bot", "policy": policy}
        named = {"name": f"{policy} {seat}"} if scenario.play_off else {}
        aged = {"age": scenario.ages[seat]} if scenario.ages and policy != PERSON else {}
        plans.append({**plan, **named, **aged})
    return {
        "type": "create_game",
        "seats": plans,
        "ruleset": scenario.rules,
        "board": scenario.board,
        "seed": None if scenario.drawn else scenario.seed,
        "options": scenario.options or None,
        "position": scenario.position,
        "play_off": scenario.play_off,
        **scenario.access,
    }


def fork_creation(fork: Forked) -> Command:
    """The command that creates a fork of another golden game."""
    log = [b64decode(line) for line in json.loads((HERE / f"{fork.of}.json").read_text())["log"]]
    command = ForkGame(fork.of, fork.at, fork.asker)
    return fork_command(log if fork.over else log[: fork.at], command, FRESH)


def write(recorder: Recorder) -> None:
    lines = [b64encode(entry).decode() for entry in recorder.log]
    document = game_summary_json(recorder.state, recorder.events, len(recorder.log))
    path = HERE / f"{recorder.game}.json"
    golden = {"document": document, "head": recorder.chain_state.head.hex(), "log": lines}
    path.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n")


def main(args: list[str]) -> None:
    again, names = "--again" in args, [word for word in args if word != "--again"]
    frozen = read_frozen()
    if again and (kept := [name for name in names or SCENARIOS if f"game {name}" in frozen["forms"]]):
        sys.exit(f"of release {frozen['release']}, and never recorded again: {', '.join(kept)}")
    for name in names or SCENARIOS:
        if again or not (HERE / f"{name}.json").exists():
            recorder = Recorder(name, SCENARIOS[name])
            recorder.play()
            write(recorder)
            ended = recorder.state.result
            assert ended, name
            print(f"{name}: {len(recorder.log)} entries, {ended.reason}")


if __name__ == "__main__":
    main(sys.argv[1:])

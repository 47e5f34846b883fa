"""Record golden games: `python -m tests.golden.record [--again] [NAME ..]`, without names all of them.

A golden file is a game's log as it was stored, with what it amounted to on the day it was
recorded. Files are only ever added: whatever the code becomes, these games must come out
the same. So what is there already isn't recorded anew. `--again` does so, which is right only
while no release, and no log of anybody's, holds entries of the present form.
"""

from __future__ import annotations

import json
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

from schemas.commands import CallTime, Command, CommandEnvelope, ForkGame, Leave, StartGame, read_command
from schemas.entries import Entry
from schemas.field_types import MAX_SEATS, Seat
from schemas.hash_chain import initial_head
from services.bots.policies import POLICIES
from services.bots.policies.random_source import SeatRandom
from services.referee.rules import GameState, UnloggedRejectionError, decide_envelope, legal
from services.referee.rules.proof.pile_tracker import PileTracker
from services.referee.rules.proof.sealing import ChainState, seal_entry
from services.referee.rules.setup.fork import fork_command
from services.text.events import game_summary_json
from tests.golden.scenario import Forked, Said, Scenario
from tests.golden.scenarios import SCENARIOS
from tests.golden.wrong_commands import anything, otherwise

HERE = Path(__file__).parent
CREATED = 1_790_000_000_000  # by the wall clock
OPENED = 5_400_000  # in the server's own time
STEP_MS = 1_500
PERSON = "person"
FRESH = "00" * 32  # the seed of a game that names none


class Recorder:
    """A game played on the pure core, an entry every STEP_MS while anybody is there."""

    def __init__(self, game: str, scenario: Scenario) -> None:
        self.game, self.scenario, self.table = game, scenario, GameState()
        self.rng = Random(scenario.seed)
        self.moves = [0] * MAX_SEATS
        self.log: list[bytes] = []
        self.past, self.piles = ChainState(0, initial_head(game), {}), PileTracker()
        self.events = self.steps = self.at = 0

    def send(self, seat: Seat | None, command: Command) -> None:
        envelope = CommandEnvelope(f"c{self.steps}", self.game, seat, command)
        now = OPENED + self.at
        self.steps += 1
        self.at += STEP_MS
        try:
            events = decide_envelope(self.table, envelope, now, FRESH, created_at_ms=CREATED)
        except UnloggedRejectionError:
            assert self.log, "the game can't be created"
            return  # no entry shows it
        entry = Entry(self.table.at_ms, envelope.id, seat, command, events)
        sealed = seal_entry(self.table, self.past, self.piles, entry)
        self.log.append(sealed.entry)
        self.past = self.past.after(sealed)
        self.events += len(events)

    def play(self) -> None:
        """From an empty table to the end of the game."""
        fork = self.scenario.fork
        self.send(None, forked(fork) if fork else read_command(wished(self.scenario)))
        self.say(self.scenario.before)
        self.send(None, StartGame())
        self.say(self.scenario.said)
        while not self.table.result:
            deadline = self.table.next_deadline()
            if deadline and self.scenario.absent is not None and self.steps > self.scenario.absent:
                self.at = max(self.at, deadline[0])
            if deadline and deadline[0] <= self.at:
                self.send(None, CallTime(deadline[1]))
            else:
                seat = min(self.table.pending_choices)
                self.send(seat, self.wish(seat))

    def say(self, wishes: Iterable[Said]) -> None:
        for seat, wish in wishes:
            self.send(seat, read_command(dict(wish)))

    def wish(self, seat: Seat) -> Command:
        """What the seat says now."""
        scenario, table = self.scenario, self.table
        if scenario.leave is not None and self.steps > scenario.leave:
            return Leave()
        if scenario.mischief and self.rng.random() < scenario.mischief:
            return anything(self.rng, table, seat)
        if scenario.always and table.turn is not None:
            always = read_command(dict(scenario.always))
            if table.ruleset.find_move(table.pending_choices[seat], always):
                return always
        chosen = self.choice(seat)
        return otherwise(self.rng, table, chosen) if scenario.mischief else chosen

    def choice(self, seat: Seat) -> Command:
        """What the seat's policy chooses."""
        place = self.table.seats[seat]
        rng = SeatRandom(place.seat_secret or f"{seat:064x}", self.moves[seat])
        self.moves[seat] += 1
        return POLICIES[place.policy or "random"](self.table, seat, legal(self.table, seat), rng)


def wished(scenario: Scenario) -> dict[str, Any]:
    """The command that creates the scenario's game."""
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
    }


def forked(fork: Forked) -> Command:
    """The command that creates a game which goes on from another golden one."""
    log = [b64decode(line) for line in json.loads((HERE / f"{fork.of}.json").read_text())["log"]]
    wish = ForkGame(fork.of, fork.at, fork.asker)
    return fork_command(log if fork.over else log[: fork.at], wish, FRESH)


def write(recorder: Recorder) -> None:
    lines = [b64encode(entry).decode() for entry in recorder.log]
    told = game_summary_json(recorder.table, recorder.events, len(recorder.log))
    path = HERE / f"{recorder.game}.json"
    golden = {"document": told, "head": recorder.past.head.hex(), "log": lines}
    path.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n")


def main(words: list[str]) -> None:
    again, names = "--again" in words, [word for word in words if word != "--again"]
    for name in names or SCENARIOS:
        if again or not (HERE / f"{name}.json").exists():
            recorder = Recorder(name, SCENARIOS[name])
            recorder.play()
            write(recorder)
            ended = recorder.table.result
            assert ended, name
            print(f"{name}: {len(recorder.log)} entries, {ended.reason}")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Make a golden game: `python -m tests.golden.record NAME RULES SEATS SEED [OPTION=VALUE ..]`.
The option `leave=N` lets every seat leave at its first turn after entry N.

A golden file is a game's log as it was stored, with what it amounted to on the day it was
recorded. Files are only ever added: whatever the code becomes, these games must come out
the same.
"""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from pathlib import Path
from typing import Any

from schemas.codec import pack_entry
from schemas.commands import CallTime, Command, CreateGame, Leave, Letter, Policy, SeatPlan, StartGame
from schemas.views import Entry
from schemas.words import Seat
from services.bots.policies import POLICIES
from services.bots.policies.dice import Dice
from services.referee.rules import Table, faces, judge, legal
from services.telling import document

HERE = Path(__file__).parent
CREATED = 1_790_000_000_000
STEP_MS = 1_500


class Recorder:
    """A game played by policies on the pure core, entry by entry."""

    def __init__(self, game: str) -> None:
        self.game, self.table = game, Table()
        self.log: list[bytes] = []
        self.events = 0

    def send(self, seat: Seat | None, command: Command) -> None:
        letter = Letter(f"c{len(self.log)}", self.game, seat, command)
        events = judge(self.table, letter, CREATED + STEP_MS * len(self.log), "00" * 32)
        entry = Entry(self.table.at, letter.id, seat, command, events)
        self.log.append(pack_entry(entry, faces(events)))
        self.events += len(events)

    def play(self, leave: int | None = None) -> None:
        """Let every seat's policy play to the end, an entry every STEP_MS."""
        moves = [0] * len(self.table.places)
        while not self.table.over:
            deadline = self.table.next_deadline()
            if deadline and deadline[0] <= STEP_MS * len(self.log):
                self.send(None, CallTime(deadline[1]))
                continue
            seat = min(self.table.awaits)
            place = self.table.places[seat]
            if leave is not None and len(self.log) > leave:
                self.send(seat, Leave())
                continue
            dice = Dice(place.luck or "00" * 32, moves[seat])
            moves[seat] += 1
            policy = POLICIES[place.policy or "random"]
            self.send(seat, policy(self.table, seat, legal(self.table, seat), dice))


def record(name: str, rules: str, seats: list[Policy], seed: str, options: dict[str, Any]) -> Recorder:
    recorder, leave = Recorder(name), options.pop("leave", None)
    plans = tuple(SeatPlan("bot", policy) for policy in seats)
    recorder.send(None, CreateGame(plans, ruleset=rules, seed=seed, options=options or None))
    recorder.send(None, StartGame())
    recorder.play(leave)
    return recorder


def write(recorder: Recorder) -> None:
    lines = [b64encode(entry).decode() for entry in recorder.log]
    told = document(recorder.table, recorder.events, len(recorder.log))
    path = HERE / f"{recorder.game}.json"
    path.write_text(json.dumps({"document": told, "log": lines}, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    name, rules, seats, seed, *options = sys.argv[1:]
    given = {key: json.loads(value) for key, value in (option.split("=", 1) for option in options)}
    write(record(name, rules, seats.split(","), seed, given))  # type: ignore[arg-type]  # checked when created

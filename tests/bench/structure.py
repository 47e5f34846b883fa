"""How heavy the product is: lines, modules, rooms and floors, circles, settings, words of docs; and how many functions a
command goes through from its envelope to its verdict."""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Final

import fakeredis

from schemas.commands import CommandEnvelope
from schemas.trains.commands import DrawBlind, KeepTickets
from services.ledger import RedisLedger
from services.runtime.settings import Settings
from tests import structure
from tests.bench.figure import Figure, Part, Report, Size
from tests.referee.running_referee import GAME, opening_commands, referee_at, submit

GOALS: Final = {
    "lines": 45_000, "modules": 350, "with one importer": 60, "circles": 0, "settings": 35,
    "stays": 25, "files of stays": 10, "Any": 40, "wide functions": 5, "words of docs": 45_000, "changelog lines": 80,
}  # fmt: skip
SERVICES: Final = str(structure.ROOT / "services")
RULES: Final = str(structure.ROOT / "services" / "referee" / "games")


def measure(size: Size, report: Report) -> Figure:
    """Nothing here depends on the machine."""
    report("reading the sources")
    importers = structure.importers()
    stays = command_stays()
    numbers: dict[str, int] = {
        "lines": sum(len(path.read_text(encoding="utf-8").splitlines()) for path in structure.sources()),
        "modules": len(structure.sources()),
        "with one importer": sum(len(found) == 1 for found in importers.values()),
        "circles": len(structure.module_circles()),
        "settings": len(Settings.model_fields),
        "stays": len(stays),
        "files of stays": len({code.co_filename for code in stays}),
        "Any": structure.count_any(),
        "wide functions": len(structure.wide_functions()),
        "words of docs": structure.count_words(structure.documents()),
        "words of generated docs, not counted with them": structure.count_words(
            filter(structure.is_generated, structure.pages())
        ),
        "changelog lines": len((structure.ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()),
    }
    parts: dict[str, Part] = {**numbers}
    for package in ("gateway", "ledger"):
        rooms = structure.rooms_of(f"services.{package}")
        parts[f"{package}: rooms"], parts[f"{package}: floors"] = len(rooms), structure.floors(rooms)
    return Figure(
        "the product's weight",
        ", ".join(f"{name} {number:,}" for name, number in parts.items()),
        ", ".join(f"{name} {number:,}" for name, number in GOALS.items()),
        all(numbers[name] <= goal for name, goal in GOALS.items()),
        parts,
    )


def command_stays() -> set[CodeType]:
    """The functions of the services, the rules left out, that one command goes through in a referee's step."""
    ledger = RedisLedger(fakeredis.FakeRedis(), 4)
    referee = referee_at(ledger)
    submit(ledger, opening_commands())
    submit(ledger, [CommandEnvelope(f"keep-{seat}", GAME, seat, KeepTickets((0, 1))) for seat in (0, 1)])
    referee.step(0)
    submit(ledger, [CommandEnvelope("draw", GAME, 0, DrawBlind())])
    stays = set[CodeType]()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        inside = code.co_filename.startswith(SERVICES) and not code.co_filename.startswith(RULES)
        if event == "call" and inside and not code.co_name.startswith("<"):  # comprehensions
            stays.add(code)

    sys.setprofile(note)
    try:
        taken = referee.step(0)
    finally:
        sys.setprofile(None)
    assert taken == 1
    return stays

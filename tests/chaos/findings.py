"""What is left of what clients were told, read over HTTP and from the documented streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from zlib import crc32

import httpx

from tests.chaos.recording import Record, SentCommand
from tests.process_faults.players import ask

PAGE_S: Final = 60.0


@dataclass
class Findings:
    """What was acknowledged and isn't there; entries that answer one command twice; what doesn't fit."""

    lost: Counter[str] = field(default_factory=Counter)  # commands by level
    doubled: int = 0
    complaints: list[str] = field(default_factory=list)


def read_view(http: httpx.Client, game: str, authorization: str) -> list[dict[str, Any]]:
    """All entries of a view."""
    entries: list[dict[str, Any]] = []
    more = True
    while more:
        headers, params = {"Authorization": authorization}, {"after": len(entries)}
        page = ask(lambda p=params, h=headers: http.get(f"/v1/games/{game}/view", params=p, headers=h)).json()  # type: ignore[misc]
        entries += page["entries"]
        more = page["more"]
    return entries


def public_stream_numbers(engine: Any, partitions: int, game: str) -> list[int]:
    """The numbers of a game's entries in its public stream, by docs/explanation/architecture.md ("Redis keys")."""
    partition = crc32(game.encode()) % partitions
    entries = engine.xrange(f"{{p{partition:02x}}}:g:{game}:public")
    return [int(id_.partition(b"-")[0]) for id_, _ in entries]


def examine(
    record: Record, url: str, engine: Any, partitions: int, followed: Mapping[str, Sequence[int]]
) -> Findings:
    """Compare everything that was acknowledged, and what sockets were sent, with what is there now."""
    findings = Findings()
    with httpx.Client(base_url=url, timeout=PAGE_S, trust_env=False) as http:
        for game in sorted(record.games):
            view = read_view(http, game, record.authorizations[game])
            numbers = [entry["number"] for entry in view]
            if numbers != list(range(1, len(numbers) + 1)):
                findings.complaints.append(f"{game}: the view's numbers are {numbers}")
            if public_stream_numbers(engine, partitions, game) != numbers:
                findings.complaints.append(f"{game}: the public stream has other numbers than the view")
            if (seen := followed.get(game)) and list(seen) != list(range(1, len(seen) + 1)):
                findings.complaints.append(f"{game}: a socket was sent the entries {list(seen)}")
            examine_commands(record, game, view, findings)
    return findings


def examine_commands(
    record: Record, game: str, view: Sequence[Mapping[str, Any]], findings: Findings
) -> None:
    """Note which commands of a game aren't in the view as they were acknowledged, and which are twice."""
    places: dict[str, list[int]] = {}
    for entry in view:
        if entry.get("answers"):
            places.setdefault(entry["answers"], []).append(entry["number"])
    for command in record.commands.values():
        if command.game == game:
            found = places.get(command.id, [])
            findings.doubled += len(found) > 1
            for level in command.levels:
                findings.lost[level] += not _is_kept(command, level, found)


def _is_kept(command: SentCommand, level: str, found: Sequence[int]) -> bool:
    """Whether the entries that answers named at this level are those that answer the command now."""
    named = {answer.number for answer in command.answers if answer.level == level} - {0}
    return bool(found) and named <= {*found}

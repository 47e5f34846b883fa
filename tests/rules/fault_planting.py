"""How a fault is planted in the public entries of a finished game (the faults: planted_faults.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pickle import dumps, loads
from random import Random
from typing import Any, NamedTuple, TypeAlias

from tests.rules.plain_referee import PublicEntry

Found: TypeAlias = tuple[int, dict[str, Any]]  # the entry's place and the event
Condition: TypeAlias = Callable[[dict[str, Any]], object]


class Log:
    """The entries of a game, to be altered; a random source chooses where."""

    def __init__(self, entries: Sequence[PublicEntry], rng: Random) -> None:
        self.times = [entry.at_ms for entry in entries]
        self.entries: list[list[dict[str, Any]]] = loads(dumps([[*entry.events] for entry in entries]))
        self.rng = rng

    def read(self) -> list[PublicEntry]:
        return [PublicEntry(at, events) for at, events in zip(self.times, self.entries, strict=True)]

    def all(self, kind: str, condition: Condition = lambda event: True) -> list[Found]:
        return [
            (place, event)
            for place, events in enumerate(self.entries)
            for event in events
            if event["type"] == kind and condition(event)
        ]

    def one(self, kind: str, condition: Condition = lambda event: True) -> Found | None:
        found = self.all(kind, condition)
        return self.rng.choice(found) if found else None

    @property
    def created(self) -> dict[str, Any]:
        return self.entries[0][0]

    @property
    def seats(self) -> int:
        return len(self.all("seat_taken"))

    def scores(self) -> Iterator[dict[str, Any]]:
        yield from self.entries[self.all("game_ended")[0][0]][-1]["scores"]

    def other_seat(self, seat: int) -> int:
        return self.rng.choice([other for other in range(self.seats) if other != seat])


class Fault(NamedTuple):
    name: str
    rules: frozenset[str]  # by which it may be found
    plant: Callable[[Log], int | None]  # the entry's number, None if the log has nothing to alter


FAULTS: list[Fault] = []


def fault(*rules: str) -> Callable[[Callable[[Log], int | None]], Callable[[Log], int | None]]:
    def register(plant: Callable[[Log], int | None]) -> Callable[[Log], int | None]:
        FAULTS.append(Fault(plant.__name__, frozenset(rules), plant))
        return plant

    return register


def alters(
    kind: str,
    name: str,
    rule: str,
    change: Callable[[Any, Log], Any],
    condition: Condition = lambda event: True,
) -> None:
    """A fault that gives one field of one event another value."""

    def plant(log: Log) -> int | None:
        found = log.one(kind, condition)
        if found is None:
            return None
        place, event = found
        event[name] = change(event[name], log)
        return place + 1

    plant.__name__ = f"{kind}: {name}"
    fault(*rule.split())(plant)


def drops(kind: str, rule: str, condition: Condition = lambda event: True) -> None:
    """A fault that leaves an event out."""

    def plant(log: Log) -> int | None:
        found = log.one(kind, condition)
        if found is None:
            return None
        place, event = found
        log.entries[place] = [other for other in log.entries[place] if other is not event]
        return place + 1

    plant.__name__ = f"no {kind}"
    fault(*rule.split())(plant)


def scores_wrongly(
    name: str, rule: str, change: Callable[[Any], Any], condition: Condition = lambda row: True
) -> None:
    """A fault in one seat's final score."""

    def plant(log: Log) -> int | None:
        rows = [row for row in log.scores() if condition(row)]
        if not rows:
            return None
        row = log.rng.choice(rows)
        row[name] = change(row[name])
        return len(log.entries)

    plant.__name__ = f"score: {name}"
    fault(*rule.split())(plant)


# -- what a field becomes ---------------------------------------------------------------------


def plus_one(value: int, log: Log) -> int:
    return value + 1


def another_seat(seat: int, log: Log) -> int:
    return log.other_seat(seat)


def one_fewer(row: Sequence[Any], log: Log) -> list[Any]:
    return [*row][:-1]


def one_more(row: Sequence[Any], log: Log) -> list[Any]:
    return [*row, *[*row][-1:]]


def another_card(card: str, log: Log) -> str:
    cards: list[str] = [*log.created["parameters"]["cards"]]
    return log.rng.choice([other for other in cards if other != card])


def with_another_card(cards: Sequence[str], log: Log) -> list[str]:
    return [another_card(cards[0], log), *cards[1:]]


def fewer_cards(cards: Mapping[str, int], log: Log) -> dict[str, int]:
    card = log.rng.choice([*cards])
    return {**cards, card: cards[card] - 1}


def more_cards(cards: Mapping[str, int], log: Log) -> dict[str, int]:
    card = log.rng.choice([*cards])
    return {**cards, card: cards[card] + 1}


def in_two_colors(cards: Mapping[str, int], log: Log) -> dict[str, int]:
    card = next(card for card in cards if not card.startswith("locomotive"))
    plain = [c for c in log.created["parameters"]["cards"] if c != card and c[:4] not in ("loco", "pass")]
    return {**cards, card: cards[card] - 1, log.rng.choice(plain): 1}

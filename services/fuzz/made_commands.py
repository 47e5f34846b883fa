"""What the fuzzer sends: legal commands by a game's own habit, these with a field changed, and any that can be declared.

Values come from the fields' declared schemas, and from the commands that were legal so far: their words and numbers
are the only ones that mean anything in rules that nobody here knows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from random import Random
from typing import Final, TypeVar

from schemas.commands import (
    FIELDS,
    SCHEMAS,
    CallTime,
    Command,
    CreateGame,
    EndGame,
    FreeSeat,
    Leave,
    SeatBot,
    SeatPlan,
    StartGame,
    TakeSeat,
)
from schemas.contract import COMMAND_REGISTRY, Json
from schemas.errors import InvalidInputError
from schemas.field_types import MAX_SEATS, Seat
from services.fuzz.played_game import OPENED_MS, PlayedGame, Step
from services.referee.games.state import Ruleset

T = TypeVar("T")
SAMPLES: Final = 48  # legal commands of a class that are remembered
MADE: Final = 40  # tries to make one command that its schema takes
ABANDONED_MS: Final = 3 * 24 * 3_600_000  # long enough for a host to end the game
WEIGHTS: Final = (0.01, 0.1, 0.5, 1, 1, 3, 10)
WAITS_MS: Final = (0, 0, 0, 1, 700, 9_000)
LATE_MS: Final = (-1, 0, 1, 60_000)  # after a deadline


class Habits:
    """How one game is played: which commands its seats prefer, and how often they do something else."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._weights: dict[tuple[int, str], float] = {}
        self._alike = rng.random() < 0.5  # all seats have the same taste
        self.illegal = rng.choice((0, 0.02, 0.2))
        self.late = rng.choice((0, 0, 0.01, 0.1))
        self.leaving = rng.choice((0, 0, 0.003, 0.03))

    def choose(self, seat: Seat, commands: Sequence[Command]) -> Command:
        """One of the commands: a kind by the seat's taste, then any of that kind."""
        kinds = defaultdict[str, list[Command]](list)
        for command in commands:
            kinds[command.type].append(command)
        weights = [self._weight(seat, kind) for kind in kinds]
        return self._rng.choice(self._rng.choices(list(kinds.values()), weights)[0])

    def _weight(self, seat: Seat, kind: str) -> float:
        key = (0 if self._alike else seat, kind)
        if key not in self._weights:
            self._weights[key] = self._rng.choice(WEIGHTS)
        return self._weights[key]


class CommandMaker:
    """Makes commands and creations of a ruleset."""

    def __init__(self, rng: Random, ruleset: Ruleset, boards: Sequence[object]) -> None:
        self._rng, self._ruleset, self._boards = rng, ruleset, boards
        self._samples: dict[type[Command], list[Command]] = {}
        self._words: list[str] = ["a"]
        self._values: dict[str, list[object]] = {}  # by field
        self._options: Json = ruleset.options_schema.write(ruleset.rule_options)
        self._option_schemas: Mapping[str, Json] = ruleset.options_schema.json_schema()["properties"]
        self._schemas: Mapping[type[Command], Json] = {
            cls: _schema_of(cls.type) for cls in COMMAND_REGISTRY.classes if cls.sender == "player"
        }
        self._classes = [*self._schemas]

    def learn(self, commands: Sequence[Command]) -> None:
        """Remember some of the commands, and their words."""
        for command in self._rng.sample(commands, min(3, len(commands))):
            sample = self._samples.setdefault(type(command), [])
            _keep(self._rng, sample, command)
            for name in FIELDS[type(command)]:
                value = getattr(command, name)
                _keep(self._rng, self._values.setdefault(name, []), value)
                for word in _words_of(value):
                    if word not in self._words:
                        _keep(self._rng, self._words, word)

    def made(self, listed: Sequence[Command], count: int) -> Iterator[Command]:
        """So many commands of players that a schema takes: listed or remembered ones with a field changed, and new ones."""
        for _ in range(count):
            if (command := self._made(listed)) is not None and not isinstance(command, Leave):
                yield command

    def _made(self, listed: Sequence[Command]) -> Command | None:
        rng, chance = self._rng, self._rng.random()
        if chance < 0.5 and listed:
            return self._changed(rng.choice(listed))
        if chance < 0.75 and self._samples:
            command = rng.choice(rng.choice(list(self._samples.values())))
            return command if rng.random() < 0.3 else self._changed(command)
        return self._declared(rng.choice(self._classes))

    def _changed(self, command: Command) -> Command | None:
        """The command with a field or two changed, if there is such a command."""
        cls, rng = type(command), self._rng
        if not FIELDS[cls]:
            return self._declared(rng.choice(self._classes))
        for _ in range(MADE):
            fields = {name: getattr(command, name) for name in FIELDS[cls]}
            for name in rng.sample(FIELDS[cls], min(len(fields), rng.choice((1, 1, 1, 2)))):
                known = self._values.get(name)
                is_known = known is not None and rng.random() < 0.4
                schema = self._schemas[cls]["properties"][name]
                if is_known and known is not None:
                    fields[name] = rng.choice(known)
                elif fields[name] is None or rng.random() < 0.1:
                    fields[name] = self._of_schema(schema, self._schemas[cls], name)
                else:
                    fields[name] = self._changed_value(fields[name])
            if (made := _read(cls, fields)) is not None and made != command:
                return made
        return None

    def _changed_value(self, value: object) -> object:
        rng = self._rng
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            return value + rng.choice((-2, -1, -1, 1, 1, 2, 10))
        if isinstance(value, str):
            return rng.choice(self._words)
        if isinstance(value, Mapping):
            return self._changed_map(value)
        if isinstance(value, tuple | list):
            return self._changed_row(list(value))
        return value

    def _changed_map(self, value: Mapping[str, object]) -> dict[str, object]:
        rng, changed = self._rng, dict(value)
        for _ in range(rng.choice((1, 1, 2))):
            key = rng.choice(list(changed)) if changed else rng.choice(self._words)
            match rng.randrange(4):
                case 0:
                    changed.pop(key, None)
                case 1:
                    changed[key] = self._changed_value(changed.get(key, 1))
                case 2:
                    changed[rng.choice(self._words)] = changed.pop(key, 1)
                case _:  # one more of another, one fewer of this
                    other = rng.choice([*changed, rng.choice(self._words)])
                    for name, more in ((key, -1), (other, 1)):
                        number = changed.get(name, 0)
                        changed[name] = number + more if isinstance(number, int) else number
        return {key: item for key, item in changed.items() if item != 0 or rng.random() < 0.1}

    def _changed_row(self, row: list[object]) -> tuple[object, ...]:
        rng = self._rng
        place = rng.randrange(len(row) + 1)
        match rng.randrange(5):
            case 0:
                del row[place : place + 1]
            case 1 if row:
                row.insert(place, rng.choice(row))
            case 2:
                rng.shuffle(row)
            case 3 if row:
                place = rng.randrange(len(row))
                row[place] = self._changed_value(row[place])
            case _:
                row = row[:place]
        return tuple(row)

    def _declared(self, cls: type[Command]) -> Command | None:
        """A command of this class, each field of any value that its schema has."""
        schema, rng = self._schemas[cls], self._rng
        for _ in range(MADE):
            fields = {
                name: self._of_schema(each, schema, name)
                for name, each in schema.get("properties", {}).items()
                if name in schema.get("required", ()) or rng.random() < 0.5
            }
            if (made := _read(cls, fields)) is not None:
                return made
        return None

    def _of_schema(self, schema: Json, root: Json, name: str = "") -> object:
        """A value that the JSON Schema may take: its patterns are left to who reads the value."""
        rng = self._rng
        if name in self._values and rng.random() < 0.5:
            return rng.choice(self._values[name])
        if "$ref" in schema:
            return self._of_schema(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
        for choices in ("anyOf", "oneOf"):
            if choices in schema:
                return self._of_schema(rng.choice(schema[choices]), root)
        if "enum" in schema:
            return rng.choice(schema["enum"])
        match schema.get("type"):
            case "integer":
                return _any_number(rng, schema)
            case "boolean":
                return rng.random() < 0.5
            case "string":
                return rng.choice(self._words)
            case "array":
                count = rng.randrange(schema.get("minItems", 0), min(4, schema.get("maxItems", 4)) + 1)
                return tuple(self._of_schema(schema.get("items", {}), root) for _ in range(count))
            case "object":
                values = [*schema.get("patternProperties", {}).values(), {"type": "integer"}]
                keys = schema.get("propertyNames", {}).get("enum") or self._words
                return {
                    rng.choice(keys): self._of_schema(values[0], root)
                    for _ in range(rng.randrange(schema.get("minProperties", 0), 4))
                }
        return None

    # -- creations -------------------------------------------------------------------------

    def creation(self) -> CreateGame:
        """A creation of any number of seats, on any of the boards, with some options changed."""
        rng = self._rng
        policies = sorted(self._ruleset.bot_policies)
        is_manned = rng.random() < 0.2
        plans = tuple(
            SeatPlan()
            if is_manned and rng.random() < 0.6
            else SeatPlan("bot", rng.choice(policies), age=rng.choice((None, 7, 30, 30)))  # type: ignore[arg-type]  # the ruleset's own
            for _ in range(rng.choice((2, 2, 2, 3, 3, 4, 5, 1, MAX_SEATS)))
        )
        options = self.changed_options(rng.choice((0, 0, 1, 1, 2, 4)))
        seed, delay = f"{rng.getrandbits(40):x}", rng.randrange(9) if rng.random() < 0.1 else None
        board = rng.choice(self._boards)
        return CreateGame(plans, self._ruleset.name, board, seed, options or None, spectator_delay=delay)

    def changed_options(self, count: int) -> Json:
        """So many rule options with another value that their schema may take."""
        options: Json = {}
        for name in self._rng.sample(sorted(self._options), count):
            options[name] = self._changed_option(self._options[name], self._option_schemas[name])
        return options

    def _changed_option(self, value: object, schema: Json) -> object:
        """Another value, near to this one mostly: far from it few games are possible."""
        rng = self._rng
        if isinstance(value, bool) or "enum" in schema or value is None or rng.random() < 0.15:
            return _listed(self._of_schema(schema, schema))
        if isinstance(value, int):
            return rng.choice((value - 1, value + 1, value * 2, value // 2, value // 3, 0, 1, 2))
        if isinstance(value, Mapping) and value:
            factor = rng.choice((None, None, 0.5, 0.3, 2))
            if factor:
                return {key: _scaled(item, factor) for key, item in value.items()}
            key = rng.choice(list(value))
            return {**value, key: self._changed_option(value[key], {"type": "integer"})}
        if isinstance(value, list) and value:
            place = rng.randrange(len(value))
            changed = self._changed_option(value[place], {"type": "integer"})
            return rng.choice(
                (value[:place], [*value, value[place]], [*value[:place], changed, *value[place + 1 :]])
            )
        return _listed(self._of_schema(schema, schema))

    # -- what comes next ---------------------------------------------------------------------

    def next_step(self, game: PlayedGame, habits: Habits) -> Step:
        """The next command of the game: what its seats, its host or its clock may send."""
        state, rng = game.state, self._rng
        if not state.started:
            return self._opening_step(game)
        deadline, wait_ms = state.next_deadline(), rng.choice(WAITS_MS)
        if deadline is not None:
            until_ms, due = OPENED_MS + deadline[0] - game.now_ms, deadline[1]
            if until_ms <= 0:
                return Step(None, CallTime(due))
            if rng.random() < habits.late:
                wait_ms = max(0, until_ms + rng.choice(LATE_MS))
                if rng.random() < 0.5:
                    return Step(None, CallTime(due), wait_ms)
        if rng.random() < habits.leaving:
            if rng.random() < 0.1:
                return Step(None, EndGame(), ABANDONED_MS)
            return Step(rng.randrange(len(state.seats)), Leave(), wait_ms)
        is_strict = state.rule_options.strict
        if rng.random() < (habits.illegal / 20 if is_strict else habits.illegal):
            seat = rng.randrange(len(state.seats))
            for made in islice(self.made(game.legal(seat), MADE), 1):
                return Step(seat, made, wait_ms)
        asked = [seat for seat in state.pending_choices if game.legal(seat)]
        if not asked:
            return Step(None, CallTime(next(iter(state.pending_choices), 0)), wait_ms)
        seat = rng.choice(asked)
        listed = game.legal(seat)
        self.learn(listed)
        return Step(seat, habits.choose(seat, listed), wait_ms)

    def _opening_step(self, game: PlayedGame) -> Step:
        """A seat is taken, or freed again, or the game is started."""
        rng, seats = self._rng, game.state.seats
        free = [seat for seat, seat_state in enumerate(seats) if not seat_state.is_seated]
        chance, any_seat = rng.random(), rng.randrange(len(seats))
        if chance < 0.1 and len(game.steps) < 40:
            policy = rng.choice(sorted(self._ruleset.bot_policies))
            return Step(None, rng.choice((FreeSeat(any_seat), SeatBot(any_seat, policy), StartGame())), 10)  # type: ignore[arg-type]  # the ruleset's own
        if free:
            seat, share = rng.choice(free), rng.choice((None, rng.randbytes(32).hex()))
            return Step(None, TakeSeat(f"Person {seat}", seat, rng.choice((None, 40)), share), 500)
        return Step(None, StartGame(), 500)


@cache
def _schema_of(command_type: str) -> Json:
    """A command's JSON Schema. Every shorter game that is tried makes commands, and a schema takes as long as its game."""
    return SCHEMAS[command_type].json_schema()


def _keep(rng: Random, kept: list[T], value: T) -> None:
    """Add a value to a sample, in place of any other once it is full."""
    if len(kept) < SAMPLES:
        kept.append(value)
    else:
        kept[rng.randrange(SAMPLES)] = value


def _words_of(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from map(str, value)
    elif isinstance(value, tuple):
        for item in value:
            yield from _words_of(item)


def _read(cls: type[Command], fields: Mapping[str, object]) -> Command | None:
    try:
        return SCHEMAS[cls.type].read(fields)
    except InvalidInputError:
        return None


def _any_number(rng: Random, schema: Json) -> int:
    least = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
    most = schema.get("maximum", schema.get("exclusiveMaximum", 10) - 1)
    near = (least, least + 1, least + 2, least + 3, rng.randint(least, max(least, min(most, least + 20))))
    return rng.choice((*near, most) if rng.random() < 0.1 else near)


def _scaled(value: object, factor: float) -> object:
    return int(value * factor) if isinstance(value, int) else value


def _listed(value: object) -> object:
    """A value with its tuples as JSON has them."""
    if isinstance(value, Mapping):
        return {key: _listed(item) for key, item in value.items()}
    return [_listed(item) for item in value] if isinstance(value, tuple) else value

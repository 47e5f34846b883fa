"""Many whole games on the rules alone, as rows of a file: CSV, JSON lines or Parquet. A row says how to deal its game again."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from types import ModuleType
from typing import Final, TypeAlias

from schemas.errors import InvalidInputError
from services.text.formatting import SEAT_LETTERS
from services.tournament.game_results import GameResult, PlannedGame, list_seatings

Row: TypeAlias = dict[str, object]
WriteRow: TypeAlias = Callable[[Row], object]
ROWS_A_GROUP: Final = 10_000  # of a Parquet file
NESTED: Final = (
    "options",
    "policies",
    "parts",
)  # columns that are objects and lists in JSON lines, JSON as text elsewhere
OF_A_SEAT: Final = ("total", "place", "removed")


def plan_simulation(policies: Sequence[str], games: int, seed: str) -> Iterator[PlannedGame]:
    """So many games: each deal in every rotation of the seats, and then the next deal."""
    seatings = list_seatings(policies, len(policies))
    planned = (PlannedGame(block, f"{seed}/{block}", seating) for block in count() for seating in seatings)
    return islice(planned, games)


def row_of(number: int, game: GameResult, where: Mapping[str, object]) -> Row:
    """The row of a game, by its number from 1. `where`: its ruleset, board and options."""
    row: Row = {"game": number, "seed": game.seed, **where, "policies": [each.policy for each in game.seats]}
    for letter, seat in zip(SEAT_LETTERS, game.seats, strict=False):
        row |= {f"{name}_{letter}": getattr(seat, name) for name in OF_A_SEAT}
    row["parts"] = {letter: dict(seat.parts) for letter, seat in zip(SEAT_LETTERS, game.seats, strict=False)}
    return row


# -- writing -----------------------------------------------------------------------------------


@contextmanager
def open_rows(path: Path) -> Iterator[WriteRow]:
    """Yield what writes one row after the other, in the form that the file's ending names.

    What was written is readable also if the rest never comes. Raises InvalidInputError, naming the option."""
    forms = {".csv": _csv_rows, ".jsonl": _json_rows, ".parquet": _parquet_rows}
    if path.suffix not in forms:
        raise InvalidInputError("--out", f"{path.name} ends in none of {', '.join(forms)}")
    try:
        with forms[path.suffix](path) as write:
            yield write
    except OSError as error:
        raise InvalidInputError("--out", f"can't be written: {error.strerror or error}") from None


@contextmanager
def _csv_rows(path: Path) -> Iterator[WriteRow]:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)

        def write(row: Row) -> None:
            if row["game"] == 1:
                writer.writerow(row)
            writer.writerow(_flat(row).values())

        yield write


@contextmanager
def _json_rows(path: Path) -> Iterator[WriteRow]:
    with path.open("w", encoding="utf-8") as file:
        yield lambda row: file.write(json.dumps(row, ensure_ascii=False) + "\n")


@contextmanager
def _parquet_rows(path: Path) -> Iterator[WriteRow]:
    arrow, parquet = _pyarrow("--out")
    rows, writer = list[Row](), None

    def write(row: Row) -> None:
        rows.append(_flat(row))
        if len(rows) == ROWS_A_GROUP:
            flush()

    def flush() -> None:
        nonlocal writer
        table = arrow.Table.from_pylist(rows)
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
        rows.clear()

    try:
        yield write
    finally:
        if rows:
            flush()
        if writer is not None:
            writer.close()


def _flat(row: Row) -> Row:
    """The row with text in place of objects and lists; the policies' names have no commas."""
    flat = row | {name: json.dumps(row[name], ensure_ascii=False) for name in NESTED}
    flat["policies"] = ",".join(map(str, row["policies"]))  # type: ignore[call-overload]  # a list of names
    return flat


def _pyarrow(option: str) -> tuple[ModuleType, ModuleType]:
    """Raises InvalidInputError: it isn't installed."""
    try:
        import pyarrow  # noqa: PLC0415 - an extra, and slow to import
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError:
        raise InvalidInputError(
            option, "Parquet needs pyarrow: pip install pyarrow; .csv and .jsonl need nothing"
        ) from None
    return pyarrow, parquet


# -- reading -----------------------------------------------------------------------------------


def read_row(path: Path, number: int, option: str) -> Row:
    """The row of this game: `rules`, `board`, `options`, `seed` and `policies`, as they were written.

    Raises InvalidInputError, naming the option."""
    try:
        for row in _rows(path, option):
            if int(str(row["game"])) == number:
                return row | {
                    name: json.loads(str(row[name])) if isinstance(row[name], str) else row[name]
                    for name in ("options",)
                }
    except OSError as error:
        raise InvalidInputError(option, f"{path} can't be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError):
        raise InvalidInputError(option, f"{path} isn't a file that ledgerline simulate wrote") from None
    raise InvalidInputError(option, f"{path} has no game {number}")


def _rows(path: Path, option: str) -> Iterator[Row]:
    match path.suffix:
        case ".parquet":
            _, parquet = _pyarrow(option)
            for batch in parquet.ParquetFile(path).iter_batches():
                yield from batch.to_pylist()
        case ".jsonl":
            with path.open(encoding="utf-8") as file:
                yield from map(json.loads, file)
        case _:
            with path.open(newline="", encoding="utf-8") as file:
                yield from csv.DictReader(file)

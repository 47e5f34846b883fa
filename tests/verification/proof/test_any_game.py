"""The verifier in one file and a game that it doesn't know: what is the kernel's is checked, what is newer isn't accused (P6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import msgpack
import pytest

from schemas import json_schema
from schemas.contract import (
    COMMAND_REGISTRY,
    EVENT_REGISTRY,
    PUBLIC,
    CommandContract,
    EventContract,
    Private,
    command,
    event,
)
from schemas.events import Event, HandDealt, SeatTaken, SeedRevealed, SeedSealed, TurnStarted
from schemas.field_types import CardName, CardNameRow, Seat
from schemas.game_options import GameOptions
from services.archive import encode_game_file
from services.referee.games.appliers import applies
from services.referee.games.fair_randomness import shuffle_with_key
from services.referee.games.found_games import RULESET_VERSIONS, RULESETS
from services.referee.games.kit import Pieces, plain_ruleset, rank, shuffle_and_deal
from services.referee.games.play_off import end_game
from services.referee.games.state import ACTION, EventStream, GameState, Move
from services.verification.log_check import check_file_bytes
from tests.games.added_package import BIDS, added_package
from tests.verification.audit.small_server import SIGNER, SmallServer
from tests.verification.proof.given import FILE_MAGIC, compressed, repacked, verify_game
from tests.verification.proof.test_cheating_files import once

TRICKS = "tricks"
START = 5  # the entry that deals, in a game of three


def file_of(server: SmallServer) -> bytes:
    entries, heads = [each.entry for each in server.log], [each.head for each in server.log]
    return encode_game_file(server.game, entries, heads, SIGNER)


def found_in(file: bytes) -> tuple[int | None, str] | None:
    """The first finding on a file that is called bad; None for a good one."""
    report = verify_game.verify(file)
    assert not report["newer"]
    return next(((found["entry"], found["why"]) for found in report["findings"]), None)


# -- tricks -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [3, 4, 5])
def test_P6_a_game_of_tricks_is_good_for_every_verifier(seats: int) -> None:
    server = SmallServer().play(seats, ruleset=TRICKS)
    report = verify_game.verify(file_of(server))
    assert (report["good"], report["findings"], server.detected) == (True, [], [])
    (own,) = (note for note in report["notes"] if "tricks:1, tricks:2" in note)
    assert own.startswith("unchecked, for only the game tricks knows it")
    assert [finding for check in check_file_bytes(file_of(server))[1] for finding in check.findings] == []


@pytest.mark.parametrize(
    ("kind", "alter", "why"),
    [
        (HandDealt, lambda e: replace(e, cards=e.cards[::-1]), "from a pile on whose top"),
        (HandDealt, lambda e: replace(e, cards=("clubs-1",) * len(e.cards)), "from a pile on whose top"),
        (SeedSealed, lambda e: replace(e, commitment="ab" * 32), "wasn't committed to"),
        (SeedRevealed, lambda e: replace(e, seed="ab" * 32), "another seed"),
        (SeatTaken, lambda e: replace(e, luck="ab" * 32), "secret or contribution of seat 0"),
        (SeatTaken, lambda e: replace(e, contribution="ab" * 32), "contribution of seat 0"),
    ],
)
def test_P6_a_forged_event_of_tricks_is_found_though_the_server_signed_it(
    kind: type[Event], alter: Callable[[Any], Event], why: str
) -> None:
    server = SmallServer(cheat=once(kind, 0, alter)).play(ruleset=TRICKS)
    found = found_in(file_of(server))
    assert found is not None
    assert why in found[1]
    assert any(check.findings for check in check_file_bytes(file_of(server))[1])


def test_P6_a_rigged_deck_of_tricks_is_found() -> None:
    server = SmallServer(shuffle=lambda state, row: tuple(row)).play(ruleset=TRICKS)
    found = found_in(file_of(server))
    assert found is not None
    assert "doesn't follow from the game's key" in found[1]
    deal = next(check for check in check_file_bytes(file_of(server))[1] if check.kind == "deal")
    assert "The order of the deck isn't" in deal.findings[0].why


def test_an_honest_shuffle_of_tricks_is_that_of_every_game() -> None:
    assert found_in(file_of(SmallServer(shuffle=shuffle_with_key).play(ruleset=TRICKS))) is None


def altered(file: bytes, number: int, alter: Callable[[list[Any]], object]) -> bytes:
    """The file with one entry altered, packed as it was."""

    def change(fields: dict[str, Any]) -> None:
        entry = msgpack.unpackb(fields["entries"][number - 1], strict_map_key=False)
        alter(entry)
        fields["entries"][number - 1] = msgpack.packb(entry)

    return repacked(file, change)


@pytest.mark.parametrize(
    ("number", "alter"),
    [
        (START, lambda entry: entry[6][0][2][2].reverse()),  # a hand, as its seat is shown it
        (START, lambda entry: entry[5][2][2].pop()),  # and as all are
        (START, lambda entry: entry[7][1][1].reverse()),  # the deck
        (START, lambda entry: entry[5].insert(1, ["tricks:1", 0, "clubs-1"])),
        (START + 1, lambda entry: entry[5][0].__setitem__(2, "clubs-16")),
        (START + 1, lambda entry: entry[5][0].append(0)),
        (START + 1, lambda entry: entry[5][0].__setitem__(0, "tricks:2")),
        (START + 1, lambda entry: entry[5][0].__setitem__(0, "tricks")),
        (START + 1, lambda entry: entry[5][0].__setitem__(0, 0)),
        (START + 1, lambda entry: entry[6].__setitem__(1, {0: [*entry[5][0][:2], "clubs-2"]})),
    ],
)
def test_P6_a_changed_part_of_tricks_is_bad(number: int, alter: Callable[[list[Any]], object]) -> None:
    found = found_in(altered(file_of(SmallServer().play(ruleset=TRICKS)), number, alter))
    assert found is not None
    assert found[0] == number


# -- a game whose own events draw off the deck, one hidden and one for all ----------------------------


@dataclass(slots=True)
class Table:
    deck: list[str | None] = field(default_factory=list)


@dataclass(slots=True)
class Hand:
    cards: list[str | None] = field(default_factory=list)


@command(type="draw_one", code="draws:1", sender="player", description="draw a card")
class DrawOne(CommandContract):
    pass


@event(
    type="one_drawn",
    code="draws:1",
    visibility=Private("seat", hides=("card",)),
    sentence="{seat} draws {card}.",
    draws="card",
)
class OneDrawn(EventContract):
    seat: Seat
    card: CardName | None


@event(
    type="some_turned", code="draws:2", visibility=PUBLIC, sentence="{seat} turns up cards.", draws="cards"
)
class SomeTurned(EventContract):
    seat: Seat
    cards: CardNameRow


@applies(OneDrawn)
def one_drawn(state: GameState, event: OneDrawn) -> None:
    state.own.deck.pop()


@applies(SomeTurned)
def some_turned(state: GameState, event: SomeTurned) -> None:
    del state.own.deck[-len(event.cards) :]


def start(state: GameState) -> EventStream:
    yield from shuffle_and_deal(state, ["red", "ace", "zero", "ace"] * 5, 2)
    yield TurnStarted(0)


def draw(state: GameState, seat: Seat, command: DrawOne) -> EventStream:
    yield OneDrawn(seat, state.own.deck[-1])
    yield SomeTurned(seat, tuple(state.own.deck[:-4:-1]))
    yield TurnStarted(1) if seat == 0 else TurnStarted(0)
    if len(state.own.deck) < 4:
        yield from end_game(state, "all drawn")


DRAWS = plain_ruleset(
    "draws",
    GameOptions(seats_least=2, seats_most=2),
    Pieces(Table, Hand, lambda state, viewer: ()),
    {ACTION: (Move(DrawOne, lambda state, seat: [DrawOne()], draw),)},
    start,
    lambda state: rank(state, [{}] * len(state.seats)),
)


def places(registry: Any, cls: Any) -> list[tuple[Any, Any]]:
    """The tables in which the registry has a class, each with its key."""
    tables = (registry.by_type, registry.by_code, registry.schemas, registry.fields)
    return list(zip(tables, (cls.type, cls.code, cls.type, cls), strict=True))


DECLARED = [
    *places(EVENT_REGISTRY, OneDrawn),
    *places(EVENT_REGISTRY, SomeTurned),
    *places(COMMAND_REGISTRY, DrawOne),
]
KNOWN = [(table, key, table.pop(key)) for table, key in DECLARED]  # no other test finds them


@pytest.fixture
def draws_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    for table, key, value in KNOWN:
        monkeypatch.setitem(table, key, value)
    monkeypatch.setitem(RULESETS, "draws", DRAWS)
    monkeypatch.setitem(RULESET_VERSIONS, ("draws", 1), DRAWS)


def test_P6_a_game_of_another_package_is_good_for_every_verifier() -> None:
    with added_package(BIDS, "ledgerline_bids", "BIDS"):
        server = SmallServer().play(2, ruleset="bids")
        assert (found_in(file_of(server)), server.detected) == (None, [])
        findings = [finding for check in check_file_bytes(file_of(server))[1] for finding in check.findings]
    assert findings == []


@pytest.mark.usefixtures("draws_is_known")
def test_P6_what_a_games_own_events_draw_is_checked_by_every_verifier() -> None:
    server = SmallServer().play(2, ruleset="draws")
    assert (found_in(file_of(server)), server.detected) == (None, [])
    assert [finding for check in check_file_bytes(file_of(server))[1] for finding in check.findings] == []


@pytest.mark.usefixtures("draws_is_known")
@pytest.mark.parametrize(
    ("kind", "alter"),
    [
        (OneDrawn, lambda e: replace(e, card="jack")),
        (SomeTurned, lambda e: replace(e, cards=("jack", *e.cards[1:]))),
    ],
)
def test_P6_a_card_that_wasn_t_on_top_is_found_where_a_game_of_any_kind_draws_it(
    kind: type[Event], alter: Callable[[Any], Event]
) -> None:
    server = SmallServer(cheat=once(kind, 1, alter)).play(2, ruleset="draws")
    found = found_in(file_of(server))
    assert found is not None
    assert "takes jack from a pile on whose top" in found[1]
    assert server.detected
    deal = next(check for check in check_file_bytes(file_of(server))[1] if check.kind == "deal")
    assert [finding.why for finding in deal.findings] == [
        "A card that left a pile isn't the one that lay on top."
    ]


# -- newer than the verifier --------------------------------------------------------------------------


def newer(file: bytes) -> tuple[bool, list[str]]:
    report = verify_game.verify(file)
    return report["newer"], [found["why"] for found in report["findings"]]


@pytest.mark.parametrize(
    ("alter", "what"),
    [
        (lambda entry: entry[5][0].__setitem__(0, 99), "the event 99"),
        (lambda entry: entry.__setitem__(0, 2), "the format 2 of entries"),
    ],
)
def test_an_event_or_a_format_of_a_later_server_is_newer_and_not_bad(
    alter: Callable[[list[Any]], object], what: str
) -> None:
    file = altered(file_of(SmallServer().play(ruleset=TRICKS)), START + 1, alter)
    assert newer(file) == (True, [f"has what is newer than I know: {what}"])
    for damage in (
        lambda fields: fields.update(signature=bytes(64)),
        lambda fields: fields["entries"].pop(),
        lambda fields: fields.update(marks=fields["marks"][:-4]),
    ):
        assert not newer(repacked(file, damage))[0]
    assert not newer(file[:-1] + bytes((file[-1] ^ 1,)))[0]
    assert not verify_game.verify(file, "00" * 32)["newer"]


def test_a_file_of_a_later_format_is_newer() -> None:
    file = FILE_MAGIC.replace(b"1", b"2") + compressed(b"\x80")[len(FILE_MAGIC) :]
    with pytest.raises(verify_game.InvalidProofError, match="the file has what is newer than I know"):
        verify_game.verify(file)


def test_what_is_newer_ends_with_2_and_what_is_forged_with_1(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    good, path = file_of(SmallServer().play(ruleset=TRICKS)), tmp_path / "game.ledgerline"
    later = altered(good, START + 1, lambda entry: entry[5][0].__setitem__(0, 99))
    forged = altered(good, START + 1, lambda entry: entry[5][0].__setitem__(2, "clubs-16"))
    codes = []
    for file in (good, later, forged, FILE_MAGIC.replace(b"1", b"2") + good[len(FILE_MAGIC) :]):
        path.write_bytes(file)
        codes.append(verify_game.main([str(path)]))
    assert codes == [0, 2, 1, 2]
    assert "NEWER THAN I KNOW game game-one" in capsys.readouterr().out


# -- its tables ---------------------------------------------------------------------------------------


def test_its_tables_are_those_of_the_contracts(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert json_schema.VERIFIER.read_text() == json_schema.verifier_text()
    stale = tmp_path / "verify_game.py"
    stale.write_text(
        json_schema.VERIFIER.read_text().replace('"hand_dealt", 3, 1, (2,), 2', '"hand_dealt", 3, 1, (), 2')
    )
    monkeypatch.setattr(json_schema, "VERIFIER", stale)
    assert json_schema.main(["--check"]) == 1

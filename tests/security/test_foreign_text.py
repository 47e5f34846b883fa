"""Names, boards and reasons that are code: no command reads markup in them or sends their escapes to a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import pytest

from schemas.commands import CommandEnvelope, CreateGame, SeatPlan, StartGame
from schemas.trains.commands import DrawBlind
from services.archive import MAX_FILE_BYTES
from services.cli.output import PlainTextConsole
from services.cli.playing.following import LineDisplay, LiveDisplay, WatchedGame
from services.cli.tables.game_tables import standings_table
from services.documents import read_bytes
from services.ledger import RedisLedger
from services.ledger.engine.connection import connect, init_partition_count
from services.referee.games import fold
from services.runtime.logging_setup import get_logger
from services.runtime.visible_text import visible_json, visible_text
from tests.cli.command_line import CommandResult, run_in_process
from tests.conftest import ALL, PARTITIONS
from tests.referee.running_referee import Players, referee_at, submit
from tests.security.captured_logging import logging_to

CLOSING = "[/b]"  # markup that closes what was never opened: it ends a program that reads markup
LINK = "[link=file:///etc]x[/link] :bomb:"
CITY = "[/i]Ulm"
ESCAPES = "\x1b[2J\r\x9b1A\u202e[/b]"  # clears the screen, goes up a line, turns the writing round
GAME = "hostile-names"


def hostile_board() -> dict[str, Any]:
    """Two cities, one of them with a name that is markup, joined by routes enough for a game."""
    cities = [{"id": "a", "name": CITY, "at": [1, 1]}, {"id": "b", "name": "[blink]Bern", "at": [2, 2]}]
    cities += [{"id": f"c{n}", "name": f"[/c{n}]", "at": [3, n]} for n in range(6)]
    ends = [("a", "b"), *(("b", f"c{n}") for n in range(6))]
    routes = [
        {"id": f"r{n}", "between": list(between), "length": 2, "color": "gray"}
        for n, between in enumerate(ends)
    ]
    tickets = [{"id": f"a{n}", "between": ["a", f"c{n}"], "points": 5, "deck": "regular"} for n in range(6)]
    tickets += [{"id": f"b{n}", "between": ["b", f"c{n}"], "points": 4, "deck": "regular"} for n in range(6)]
    form = {"format": 1, "id": "hostile", "title": LINK, "size": [10, 10]}
    return {**form, "cities": cities, "routes": routes, "tickets": tickets}


@pytest.fixture(scope="module")
def ledger(engine_url: str) -> Iterator[RedisLedger]:
    """A game on that board between players of those names, a dispute, and a dead letter with an escape in it."""
    client = connect(engine_url)
    client.flushdb()
    ledger = RedisLedger(client, init_partition_count(client, PARTITIONS))
    plans = (SeatPlan("bot", "random", CLOSING), SeatPlan("bot", "random", LINK))
    create = CreateGame(plans, ruleset="usa", board=hostile_board(), seed="x", options={"cars": 6})
    submit(ledger, [CommandEnvelope("c", GAME, None, create), CommandEnvelope("s", GAME, None, StartGame())])
    referee, players = referee_at(ledger), Players(ledger, Random(3))
    while referee.step(0) + players.step():
        pass
    assert fold(ledger.read_entries(GAME)).result
    broken = CommandEnvelope("broken", "game-one", 0, DrawBlind())
    ledger.submit(broken)
    [delivered] = ledger.commands.take("one", ALL, 10, 0)
    ledger.move_to_dead_letters(delivered, broken, f"KeyError: {ESCAPES}")
    yield ledger
    client.flushdb()
    ledger.close()


def run(engine_url: str, *words: str, data: Path | None = None, **settings: str) -> CommandResult:
    return run_in_process(*words, data=data, LEDGERLINE_REDIS_URL=engine_url, **settings)


def assert_visible(text: str) -> None:
    assert [line for line in text.split("\n") if not line.isprintable()] == []


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("games",), CLOSING),
        (("replay", GAME), CLOSING),
        (("replay", GAME, "--as", "0"), CITY),
        (("replay", GAME, "--json"), LINK),
        (("audit", GAME), GAME),
        (("audit", GAME, "--at", "3"), CLOSING),
        (("fork", GAME, "--at", "9"), LINK),
        (("disputes", "raise", GAME, "--at", "3", "--reason", CLOSING), "is disputed"),
        (("disputes",), CLOSING),
        (("dead", "list"), "\\x1b[2J\\r\\x9b1A\\u202e[/b]"),
        (("dead", "list", "--json"), "\\u001b[2J\\r\\u009b1A\\u202e[/b]"),
        (("games", "--json"), CLOSING),
    ],
    ids=" ".join,
)
def test_a_name_that_is_markup_or_an_escape_is_printed_as_text(
    ledger: RedisLedger, engine_url: str, words: tuple[str, ...], shown: str, tmp_path: Path
) -> None:
    result = run(
        engine_url, *words, LEDGERLINE_ARCHIVE_URL=str(tmp_path), LEDGERLINE_TOKEN_KEY="k" * 40, COLUMNS="400"
    )
    assert result.returncode == 0, result.stderr
    assert shown in result.stdout
    assert_visible(result.stdout + result.stderr)


def test_a_dispute_that_is_markup_is_shown_as_text(ledger: RedisLedger, engine_url: str) -> None:
    run(engine_url, "disputes", "raise", GAME, "--at", "4", "--reason", CLOSING)
    dispute = ledger.disputes().list_all()[-1].name.id
    assert CLOSING in run(engine_url, "disputes", "show", dispute).stdout


def test_the_file_of_such_a_game_is_verified_and_audited(
    ledger: RedisLedger, engine_url: str, tmp_path: Path
) -> None:
    path = tmp_path / "game.ledger"
    assert run(engine_url, "export", GAME, str(path), data=tmp_path).returncode == 0
    for words in (("verify", str(path)), ("audit", str(path)), ("audit", str(path), "--at", "5")):
        result = run_in_process(*words)
        assert result.returncode == 0, result.stdout + result.stderr
        assert_visible(result.stdout + result.stderr)


@pytest.mark.parametrize("command", ["verify", "audit"])
def test_a_file_that_is_named_or_filled_with_escapes_is_refused_without_them(
    command: str, tmp_path: Path
) -> None:
    path = tmp_path / f"{ESCAPES.replace('/', '')}.ledger"
    path.write_bytes(ESCAPES.encode() * 9)
    result = run_in_process(command, str(path))
    assert result.returncode == 2
    assert "\\x1b[2J" in result.stderr
    assert_visible(result.stderr)
    assert len(read_bytes(path, MAX_FILE_BYTES, "file")) == len(ESCAPES.encode()) * 9


def test_a_question_with_such_a_city_is_answered_with_text_only(tmp_path: Path) -> None:
    result = run_in_process("ask", "-", stdin=f'{{"board": "{CLOSING}\\u001b[2J", "commands": []}}')
    assert result.returncode == 2
    assert_visible(result.stdout + result.stderr)


def test_a_game_that_is_watched_shows_such_names_as_text(
    ledger: RedisLedger, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = WatchedGame(GAME)
    sentences = watched.apply_entries(ledger.read_view(GAME, None, 0))
    LineDisplay().show(watched, [*sentences, ESCAPES])
    printed = capsys.readouterr().out
    assert CLOSING in printed
    assert_visible(printed)
    out = StringIO()
    screen = PlainTextConsole(out)
    watched.recent_sentences.append(ESCAPES)
    screen.print(LiveDisplay([watched]).render(watched))
    assert CLOSING in out.getvalue()
    assert "\\x1b[2J" in out.getvalue()
    assert_visible(out.getvalue())


def test_a_table_holds_no_escape_of_a_damaged_log(ledger: RedisLedger) -> None:
    state = fold(ledger.read_entries(GAME)[:4])
    state.seats[0].name = ESCAPES  # no API takes it; whoever writes to the engine can
    out = StringIO()
    PlainTextConsole(out).print(standings_table(state))
    assert "\\x1b[2J" in out.getvalue()
    assert_visible(out.getvalue())


def test_a_log_line_on_a_terminal_holds_no_escape_of_a_stranger() -> None:
    out = StringIO()
    with logging_to(out, "console"):
        try:
            raise ValueError(ESCAPES)
        except ValueError:
            get_logger("gateway").exception("refused", why=ESCAPES)
    assert out.getvalue().count("\\x1b[2J") == 2
    assert_visible(out.getvalue())


def test_a_traceback_on_a_terminal_shows_no_variable() -> None:
    def fail_with(secret: str) -> None:
        raise ValueError(len(secret))

    out = StringIO()
    with logging_to(out, "console"):
        try:
            fail_with("5e" * 16)
        except ValueError:
            get_logger("gateway").exception("refused")
    assert "in fail_with" in out.getvalue()
    assert "5e5e" not in out.getvalue()


@pytest.mark.parametrize(
    "words", [(CLOSING,), ("verify", CLOSING), ("play", "--rules", CLOSING), ("games", CLOSING)]
)
def test_a_wrong_word_that_is_markup_is_refused_as_text(words: tuple[str, ...], tmp_path: Path) -> None:
    result = run_in_process(*words, data=tmp_path)
    assert result.returncode == 2
    assert "[/b]" in result.stderr


def test_visible_text_and_json_change_nothing_that_can_be_seen() -> None:
    assert visible_text("Zürich - Ōsaka, 3 cards") == "Zürich - Ōsaka, 3 cards"
    assert visible_json({"a": ["Zürich"]}) == '{\n  "a": [\n    "Zürich"\n  ]\n}'
    assert visible_text("a\nb\ud800") == "a\\nb\\ud800"
    assert visible_json("\U000e0041\ud800") == '"\\udb40\\udc41\\ud800"'

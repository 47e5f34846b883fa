"""Questions that can't be read or answered: one clear line that names the entry, never anything else."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from time import thread_time
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.errors import InvalidInputError
from services import documents
from services.cli.trains.ask import MAX_BYTES, answer_file, answer_query
from services.documents import read_document
from services.referee.games import RULESETS
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.text.formatting import MAX_LINE_LENGTH
from tests.cli.command_line import ROOT, run_in_process
from tests.schemas.board_examples import OURS, TRAINS
from tests.schemas.test_forms import published
from tests.schemas.test_position_queries import WHOLE

# -- reading JSON and YAML -----------------------------------------------------------------


def test_yaml_and_json_spell_the_same_question() -> None:
    for style in (True, False, None):
        text = yaml.safe_dump(WHOLE, default_flow_style=style)
        assert read_document(text) == WHOLE
    assert read_document(json.dumps(WHOLE)) == WHOLE


def test_in_yaml_only_what_json_calls_a_number_or_a_word_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
    a: [no, on, yes, Null, "3", '', 012, 1_000, 1:30, 2026-01-01, 0x10, .5, 1., +3, =, .inf, .NaN]
    b: [0, -3, 1.5, -2e3, true, false, null, ~, ]
    c:
    no: >
      two
      lines
    """
    expected = {
        "a": ["no", "on", "yes", "Null", "3", "", "012", "1_000", "1:30", "2026-01-01", "0x10", ".5", "1.", "+3",
              "=", ".inf", ".NaN"],
        "b": [0, -3, 1.5, -2000.0, True, False, None, None],
        "c": None,
        "no": "two lines\n",
    }  # fmt: skip
    assert read_document(text) == expected
    monkeypatch.setattr(documents, "_LOADER", yaml.SafeLoader)  # where there is none in C
    assert read_document(text) == expected


BOMB = "a: &a [x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
UNREADABLE = [
    ("", "is empty"),
    ("# nothing\n", "is empty"),
    ('{"seats": 2, "seats": 3}', "'seats' stands twice"),
    ('{"seats": 2, "position": {"routes": {"a-b": 0, "a-b": 1}}}', "'a-b' stands twice"),
    ("seats: 2\nposition:\n  routes: {a-b: 0, a-b: 1}\n", "'a-b' stands twice"),
    ("seats: 2\n'seats': 3\n", "'seats' stands twice"),
    (BOMB, r"line 2: aliases .* \*a"),
    ("seats: !!int '2'\n", "line 1: tags"),
    ("seats: !!python/object/apply:os.system [ls]\n", "line 1: tags"),
    ("? [a, b]\n: 1\n", "line 1: a key"),
    ("a: 1\n---\nb: 2\n", "a second document"),
    ('{"seats": 2,, }', "isn't JSON: .* line 1, column 13"),
    ("seats: 2\n  board: usa\n", "neither JSON nor YAML: .* line 2"),
    ("seats: [2\n", "neither JSON nor YAML"),
    ("seats: \x01", "neither JSON nor YAML"),
    ('{"seats": NaN}', "NaN is no number"),
    ('{"seats": -Infinity}', "-Infinity is no number"),
    ('{"seats": ' + "9" * 5000 + "}", "thousands of digits"),
    ("[" * 100_000, "nested too deep"),
    ("- " * 100_000, "nested too deep"),
    ("a: " + "[" * 60 + "]" * 60, "line 1: is nested too deep"),
]


@pytest.mark.parametrize(("text", "why"), UNREADABLE, ids=[text[:30] for text, _ in UNREADABLE])
def test_a_text_that_cannot_be_read_is_refused_with_the_position(text: str, why: str) -> None:
    with pytest.raises(InvalidInputError, match=why):
        read_document(text)


@pytest.mark.parametrize(
    "text",
    [
        "{" + ",".join(f'"{n}":0' for n in range(26_000)) + ',"25999":1}',
        "{" * 130_000 + "}" * 130_000,
        "a: [" + "x, " * 80_000 + "]",
        "? " * 130_000,
        "&a " * 80_000,
        "'" * 262_000,
        "- [" + "a: b, " * 40_000,
    ],
    ids=["many keys", "braces", "a long row", "question marks", "anchors", "quotes", "pairs"],
)
def test_no_text_of_the_size_that_is_allowed_takes_long(text: str, tmp_path: Path) -> None:
    assert len(text) <= MAX_BYTES
    file = tmp_path / "question"
    file.write_text(text)
    start = thread_time()
    with pytest.raises(InvalidInputError):
        answer_file(str(file))
    assert thread_time() - start < 5


def test_an_error_is_one_short_printable_line(tmp_path: Path) -> None:
    file = tmp_path / "question.json"
    file.write_text(json.dumps({"seats": 2, "position": {"routes": {"\x1b[2J\na" + "b" * 5000: 0}}}))
    with pytest.raises(InvalidInputError) as error:
        answer_file(str(file))
    assert str(error.value).isprintable()
    assert str(error.value).startswith(r"position.routes.\x1b[2J\nabb")
    assert len(str(error.value)) <= MAX_LINE_LENGTH


# -- the command line ----------------------------------------------------------------------

FILES: list[tuple[bytes, str]] = [
    (b'{"seats": 2, "seats": 2}', "'seats' stands twice"),
    (b'{"seats": 2, "position": {"hands": [{"red": -1}]}}', "position.hands.0.red"),
    (b'{"seats": 2, "position": {"routes": {"boston-atlantis-a": 0}}}', "position.routes.boston-atlantis-a"),
    (b'{"seats": 7}', "seats: 7"),
    (b'{"seats": 2, "ruleset": "chess"}', "chess"),
    (b'{"seats": 2, "options": {"hand": -1}}', "options: hand"),
    (b'{"seats": 2, "options": {"carz": 1}}', "options: carz"),
    (b'{"seats": 2, "commands": [{"type": "take_seat", "name": "x"}]}', "commands.0"),
    (b"seats: 2\nboard: no/such.json", "board: no/such.json: can't be read"),
    (b"\xff\xfe{}", "isn't UTF-8"),
    (b"x" * (MAX_BYTES + 1), f"has more than {MAX_BYTES} bytes"),
    (b"just words", "question"),
    *(
        (json.dumps({"ruleset": rules, "seats": 3}).encode(), f"position: the rules {rules} know none")
        for rules in RULESETS
        if rules not in TRAIN_RULESETS
    ),
]


@pytest.mark.parametrize(("content", "why"), FILES, ids=[str(content[:40]) for content, _ in FILES])
def test_a_bad_question_is_one_line_and_exit_code_2(content: bytes, why: str) -> None:
    result = run_in_process("ask", "-", stdin=content)
    assert (result.returncode, result.stdout) == (2, "")
    assert why in result.stderr
    assert result.stderr.startswith("ledgerline: ") and result.stderr.count("\n") == 1


def test_a_missing_file_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    for name in (str(tmp_path / "none.json"), str(tmp_path)):
        result = run_in_process("ask", name)
        assert (result.returncode, result.stdout) == (2, "")
        assert name in result.stderr and result.stderr.count("\n") == 1
    assert run_in_process("ask").returncode == 2


# -- anything at all -----------------------------------------------------------------------

PLAY: dict[str, Any] = {
    "ruleset": "marklin",
    "seats": 3,
    "position": {
        "hands": [{"red": 9, "locomotive4": 2, "passenger": 3}],
        "routes": {"berlin-leipzig-a": 0, "dresden-leipzig-a": 1},
        "passengers": {"berlin": 0},
        "tokens": {"dresden": [3, 2]},
        "tickets": [[{"between": ["berlin", "dresden"], "points": 4}]],
    },
    "commands": [
        {"seat": 0, "type": "move_passenger", "city": "berlin", "path": ["berlin-leipzig-a"]},
        {"seat": 1, "type": "draw_tickets", "decks": {"short": 4}},
        {"seat": 1, "type": "keep_tickets", "keep": [0]},
        {"seat": 2, "type": "draw_market", "slot": 1},
    ],
    "legal": True,
    "score": True,
}
STARTS: list[dict[str, Any]] = [
    WHOLE,
    PLAY,
    {"seats": 2, "board": OURS, "ruleset": "europe", "options": {"start_tickets": {}, "start_keep": 0}},
    {"seats": 2, "board": TRAINS, "options": {"start_tickets": {}, "start_keep": 0}, "legal": True},
    *({"seats": 2, "ruleset": rules, "legal": True, "score": True} for rules in TRAIN_RULESETS),
]
VALUES: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 60),
    st.sampled_from(
        [2**70, -(2**70), 0.5, 1e300, "", "red", "berlin", "wien", "a-b", "\ud800", "é\0", [], {}, [[]]]
    ),
    st.sampled_from([{"red": 1000}, {"red": 250, "locomotive": 250}, ["red"] * 12, [[[[[[[[[[1]]]]]]]]]]]),
    st.text(max_size=8),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=2),
)
EXTRA = (
    "turn", "hands", "market", "deck", "tokens", "passenger", "cards", "cars", "clock_ms", "strict", "market",
     "flush", "pair_tickets", "station_costs", "passengers", "tunnel_cards", "hand", "kind", "seat", "nonsense",
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A question with a few places changed, dropped, repeated or added to."""
    question = copy.deepcopy(draw(st.sampled_from(STARTS)))
    for _ in range(draw(st.integers(1, 3))):
        inner: Any = question
        while deeper := [part for part in parts(inner) if isinstance(part, dict | list)]:
            if inner is not question and draw(st.integers(0, 2)) == 0:
                break
            inner = draw(st.sampled_from(deeper))
        change(draw, inner if draw(st.integers(0, 9)) else question)
    return question


def parts(inner: Any) -> list[Any]:
    return [*inner.values()] if isinstance(inner, dict) else inner


def change(draw: st.DrawFn, inner: Any) -> None:
    if isinstance(inner, dict):
        key = draw(st.sampled_from([*inner, *EXTRA]))
        if draw(st.integers(0, 4)) == 0:
            inner.pop(key, None)
        else:
            inner[key] = copy.deepcopy(draw(VALUES))
    elif bool(inner) and draw(st.booleans()):
        inner.append(copy.deepcopy(inner[0]))
    else:
        inner.append(copy.deepcopy(draw(VALUES)))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_every_question_is_answered_or_refused_as_invalid(question: Any) -> None:
    try:
        answer = answer_query(question, ROOT)
    except InvalidInputError as error:
        assert str(error).strip()
    else:
        published("answer").validate(json.loads(json.dumps(answer)))

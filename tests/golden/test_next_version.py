"""P4: a made-up second version of an event and of a ruleset; golden games of the first are read and decided as before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schemas.contract import PUBLIC, EventContract, contract
from schemas.contract_record import add_new, current_contracts, find_changes, read_record
from schemas.events import BY_CODE, FIELDS, FORMER_VERSIONS, FormerVersion, Passed
from schemas.field_types import Seat
from schemas.stored import rows
from services.referee.games import RULESETS, GameState, fold
from services.referee.games.appliers import APPLIERS
from services.referee.games.trains.scoring import score
from services.text.sentences import game_summary_json
from services.verification.audit import audit
from services.verification.replay import Replay
from tests.golden.test_golden import read
from tests.rules.next_version import next_version

HERE = Path(__file__).parent
MANY_PASSES = "usa-all-passed-starved"


@contract()
class PassedAfter(EventContract):
    """A second version of `Passed`, which says how many turns were passed before."""

    seat: Seat
    before: int


PassedAfter.type, PassedAfter.version, PassedAfter.code = Passed.type, 2, 98
PassedAfter.visibility = PUBLIC


def count_none(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first version counted no passes."""
    return {**fields, "before": 0}


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[PassedAfter]:
    """Today's version of the event is the second; returns those that were applied."""
    applied: list[PassedAfter] = []
    apply_first = APPLIERS[Passed]

    def apply(state: GameState, event: PassedAfter) -> None:
        applied.append(event)
        apply_first(state, Passed(event.seat))

    former = FormerVersion(Passed.type, 1, FIELDS[Passed], PassedAfter.code, count_none)
    monkeypatch.delitem(BY_CODE, Passed.code)
    monkeypatch.setattr(rows, "PLAIN_CLASSES", {})  # those met before
    changes: tuple[tuple[Any, Any, object], ...] = (
        (BY_CODE, PassedAfter.code, PassedAfter),
        (FIELDS, PassedAfter, ("seat", "before")),
        (FORMER_VERSIONS, Passed.code, former),
        (APPLIERS, PassedAfter, apply),
    )
    for table, key, value in changes:
        monkeypatch.setitem(table, key, value)
    return applied


@pytest.mark.pure_python
def test_P4_a_golden_game_folds_alike_when_an_event_has_a_second_version(passes: list[PassedAfter]) -> None:
    document, log, *_ = read(HERE / f"{MANY_PASSES}.json")
    state = fold(log)
    assert game_summary_json(state, document["events"], len(log)) == document
    assert state.result is not None
    assert state.result.scores == score(state)
    assert len(passes) > 1
    assert {passed.before for passed in passes} == {0}


def test_P4_the_record_knows_the_first_version_of_an_event_and_takes_the_second() -> None:
    record, current = read_record(), current_contracts()
    first = current["events"].pop(str(Passed.code))
    forbidden, _ = find_changes(record, current)
    assert forbidden == [f"events: code {Passed.code} (passed 1) is gone"]
    current["former_events"][str(Passed.code)] = {**first, "fields": {"seat": {"is": "anything"}}}
    fields = {**first["fields"], "before": {"is": "integer"}}
    current["events"]["98"] = {**first, "version": 2, "fields": fields}
    forbidden, missing = find_changes(record, current)
    assert (forbidden, len(missing)) == ([], 2)
    assert find_changes(add_new(record, current), current) == ([], [])


@pytest.mark.parametrize("game", ["usa-turns", "europe-tunnels-and-stations", "marklin-journeys"])
def test_P4_a_golden_game_is_decided_by_its_own_version_of_the_rules(
    game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, log, *_ = read(HERE / f"{game}.json")
    first, _ = next_version(
        document["ruleset"],
        monkeypatch,
        lambda rules: {"parts": replace(rules.parts, payment_checks=(), tie_breaks=())},
    )
    assert RULESETS[document["ruleset"]].version == 2
    assert fold(log).ruleset is first
    assert audit(Replay(game, log)).ok

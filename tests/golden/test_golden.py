"""Golden games: an old log gives the same result in every later version (P4)."""

from __future__ import annotations

import json
from base64 import b64decode
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from schemas.commands import CommandEnvelope
from schemas.events import CommandRefused, Event, GameCreated, SeedSealed
from schemas.stored.codec import build_view_entry, join_entry, unpack_entry
from schemas.stored.entries import Entry
from schemas.stored.hash_chain import initial_head
from services.referee.games import RULESETS, GameState, decide_envelope, fold, fold_events, redact_for
from services.referee.games.found_games import RULESET_VERSIONS
from services.referee.games.proof.pile_tracker import PileTracker
from services.referee.games.proof.sealing import ChainState, SealedEntry, seal_entry
from services.referee.games.proof.view_verifier import ViewVerifier
from services.referee.games.trains.board import board_names
from services.text.sentences import game_summary_json
from tests.golden.features import features
from tests.golden.scenarios import SCENARIOS
from tests.golden.wanted_features import wanted

FILES = sorted(Path(__file__).parent.glob("*.json"))


class Golden(NamedTuple):
    document: dict[str, Any]  # the game's document on the day it was recorded
    log: list[bytes]
    entries: list[Entry]
    head: str  # after its last entry


@cache
def read(path: Path) -> Golden:
    golden = json.loads(path.read_text())
    log = [b64decode(line) for line in golden["log"]]
    entries = [unpack_entry(data) for data in log]
    return Golden(golden["document"], log, entries, golden["head"])


def test_P4_an_old_log_folds_to_the_same_state_and_scores(subtests: pytest.Subtests) -> None:
    for path in FILES:
        with subtests.test(path.stem):
            document, log, *_ = read(path)
            state = fold(log)
            assert game_summary_json(state, document["events"], len(log)) == document
            assert state.result is not None
            assert state.result.scores == state.ruleset.score(state)


def test_P4_every_old_command_is_decided_as_it_was_then(subtests: pytest.Subtests) -> None:
    for path in FILES:
        with subtests.test(path.stem):
            entries = read(path).entries
            created, sealed = entries[0].events[:2]
            assert isinstance(created, GameCreated)
            assert isinstance(sealed, SeedSealed)
            old_rulesets = {created.ruleset: RULESET_VERSIONS[created.ruleset, created.rules]}
            state = GameState()
            for entry in entries:
                envelope, now = (
                    CommandEnvelope(entry.id, path.stem, entry.seat, entry.command),
                    created.opened + entry.at,
                )
                events = decide_envelope(
                    state,
                    envelope,
                    now,
                    sealed.seed or "",
                    created_at_ms=created.created,
                    rulesets=old_rulesets,
                )
                assert [without_reason(event) for event in events] == [
                    without_reason(event) for event in entry.events
                ]


def test_P4_every_old_entry_is_sealed_as_it_was_then(subtests: pytest.Subtests) -> None:
    for path in FILES:
        with subtests.test(path.stem):
            _, log, _, head = read(path)
            sealed = resealed(path)
            assert [resealed_entry.entry for resealed_entry in sealed] == log
            assert sealed[-1].head.hex() == head


@cache
def resealed(path: Path) -> list[SealedEntry]:
    """The entries, sealed again."""
    state, chain_state, pile_tracker = GameState(), ChainState(0, initial_head(path.stem), {}), PileTracker()
    sealed: list[SealedEntry] = []
    for entry in read(path).entries:
        fold_events(state, entry.at, entry.events)
        sealed.append(seal_entry(state, chain_state, pile_tracker, entry))
        chain_state = chain_state.after(sealed[-1])
    return sealed


def test_P4_every_viewer_can_still_check_an_old_game(subtests: pytest.Subtests) -> None:
    for path in FILES:
        with subtests.test(path.stem):
            document, _, _, head = read(path)
            sealed = resealed(path)
            for viewer in (None, *range(len(document["seats"]))):
                verifier = ViewVerifier(path.stem, viewer)
                for number, shown in enumerate(sealed, 1):
                    part = dict(shown.private_parts).get(-1 if viewer is None else viewer)
                    verifier.verify(build_view_entry(number, shown.public, part, shown.head))
                assert verifier.head.hex() == head


def test_P4_every_sealed_entry_follows_from_what_is_seen_of_it_and_its_secret(
    subtests: pytest.Subtests,
) -> None:
    for path in FILES:
        with subtests.test(path.stem):
            for sealed in resealed(path):
                assert join_entry(sealed.public, sealed.private_parts, sealed.secret) == sealed.entry


def without_reason(event: Event) -> Event:
    """The event without the sentence of a refusal: its wording may improve, but the rule must be the same."""
    return replace(event, why="") if isinstance(event, CommandRefused) else event


def test_P4_every_viewer_of_an_old_log_sees_the_same_end(subtests: pytest.Subtests) -> None:
    for path in FILES:
        with subtests.test(path.stem):
            document, log, entries, _ = read(path)
            for viewer in (None, *range(len(document["seats"]))):
                view = GameState()
                for entry in entries:
                    shown = (redact_for(viewer, event) for event in entry.events)
                    fold_events(view, entry.at, [event for event in shown if event is not None])
                assert game_summary_json(view, document["events"], len(log)) == document
                assert view.result is not None
                assert view.result.scores == view.ruleset.score(view)


# -- coverage --------------------------------------------------------------------------------


def test_every_scenario_has_its_golden_game_and_every_golden_game_its_scenario() -> None:
    assert {path.stem for path in FILES} == set(SCENARIOS)


def test_there_is_a_golden_game_with_every_feature_of_every_ruleset() -> None:
    seen: Counter[str] = Counter()
    for path in FILES:
        seen += features(read(path).entries)
    assert sorted(wanted() - seen.keys()) == []


def test_there_is_a_golden_game_on_every_board_with_every_ruleset() -> None:
    played = {(read(path).document["ruleset"], read(path).document.get("board")) for path in FILES}
    assert {rules for rules, _ in played} == set(RULESETS)
    assert set(board_names()) <= {board for _, board in played}

"""A command or an event is declared once; one that is half declared stops the program at import."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from schemas.contract import (
    COMMAND_REGISTRY,
    EVENT_REGISTRY,
    PUBLIC,
    CommandContract,
    EventContract,
    Private,
    Secret,
    command,
    event,
)
from schemas.field_types import Seat
from schemas.published_contracts import COMMANDS, EVENTS, PLAYER_COMMANDS, in_order
from schemas.registry import Registry
from schemas.trains import events as train_events
from schemas.trains.field_types import CardRow
from services.referee.games.appliers import APPLIER_TABLE
from services.referee.games.decide import require_decided
from services.referee.games.views import REDACTORS, owner_of, redact_for, split_by_visibility
from services.text import require_words

UNUSED_CODE = 999


@pytest.fixture(autouse=True)
def registries(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test declares is gone after it."""
    for registry in (EVENT_REGISTRY, COMMAND_REGISTRY):
        for name in ("by_code", "by_type", "schemas", "fields"):
            monkeypatch.setattr(registry, name, getattr(registry, name).copy())
    yield


def declare_event(**changes: Any) -> Any:
    given: dict[str, Any] = {"type": "flag_raised", "code": UNUSED_CODE, "visibility": PUBLIC, **changes}

    @event(**given)
    class FlagRaised(EventContract):
        seat: Seat
        cards: CardRow

    return FlagRaised


def declare_command(**changes: Any) -> Any:
    given: dict[str, Any] = {"type": "raise_flag", "code": UNUSED_CODE, "sender": "player", **changes}

    @command(**given)
    class RaiseFlag(CommandContract):
        seat: Seat

    return RaiseFlag


# -- the declaration -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes", [{"type": "route_claimed"}, {"code": 15}, {"type": ""}, {"code": 0}], ids=str
)
def test_an_event_needs_a_type_and_a_code_of_its_own(changes: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="FlagRaised"):
        declare_event(**changes)


@pytest.mark.parametrize(
    "changes", [{"type": "claim_route"}, {"code": 8}, {"type": ""}, {"code": 0}], ids=str
)
def test_a_command_needs_a_type_and_a_code_of_its_own(changes: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="RaiseFlag"):
        declare_command(**changes)


@pytest.mark.parametrize(
    "visibility",
    [None, "public", Secret(("order",)), Private("owner", ("cards",)), Private("seat", ()),
     Private("seat", ("cards",), public_if_null="luck")],
    ids=str,
)  # fmt: skip
def test_P5_an_event_declares_who_may_see_which_of_its_fields(visibility: object) -> None:
    with pytest.raises(TypeError, match="FlagRaised"):
        declare_event(visibility=visibility)


def test_P5_an_event_can_t_be_declared_without_its_visibility() -> None:
    undeclared: Any = event
    with pytest.raises(TypeError, match="visibility"):
        undeclared(type="flag_raised", code=UNUSED_CODE)


def test_the_published_contracts_are_those_with_a_number_in_an_order_that_no_import_changes() -> None:
    published = (
        in_order(EVENT_REGISTRY.classes)[: len(EVENTS)],
        in_order(COMMAND_REGISTRY.classes)[: len(COMMANDS)],
    )
    assert published == (EVENTS, COMMANDS)  # games add theirs
    assert {type(cls.code) for cls in (*EVENTS, *COMMANDS)} == {int}
    assert tuple(cls for cls in COMMANDS if cls.sender == "player") == PLAYER_COMMANDS
    assert Registry("event").classes == ()


# -- who may see it ------------------------------------------------------------------------


def test_P5_an_event_that_is_neither_public_nor_redacted_is_shown_to_nobody() -> None:
    class Stray(EventContract):
        """It was never declared."""

    stray = Stray()
    for viewer in (None, 0, 1):
        with pytest.raises(TypeError, match="Stray"):
            redact_for(viewer, stray)
    for ask in (owner_of, lambda given: split_by_visibility((given,))):
        with pytest.raises(TypeError, match="Stray"):
            ask(stray)


def test_P5_every_event_is_public_by_name_or_has_a_redactor() -> None:
    for cls in EVENTS:
        assert (cls.visibility == PUBLIC) == (REDACTORS[cls] is None), cls


# -- what else there is for each of them -----------------------------------------------------


def test_a_new_event_needs_an_applier_and_a_sentence() -> None:
    assert APPLIER_TABLE.complete()
    require_words()
    declare_event()
    with pytest.raises(TypeError, match="no applier for the event FlagRaised"):
        APPLIER_TABLE.complete()
    with pytest.raises(TypeError, match="no sentence for the event FlagRaised"):
        require_words()


def test_a_new_command_needs_a_description_and_somebody_who_decides_it() -> None:
    declare_command()
    with pytest.raises(TypeError, match="no description for the command RaiseFlag"):
        require_words()
    with pytest.raises(TypeError, match="RaiseFlag"):
        require_decided()


def test_an_undeclared_event_has_no_applier() -> None:
    class Stray(EventContract):
        """It was never declared."""

    with pytest.raises(TypeError, match="applier for Stray"):
        APPLIER_TABLE(Stray)


def test_an_event_has_one_applier() -> None:
    with pytest.raises(TypeError, match="second applier for the event RouteClaimed"):
        APPLIER_TABLE(train_events.RouteClaimed)

"""A game's position as JSON: as `ask` prints it, and as a whole question that `ask` takes."""

from __future__ import annotations

from schemas.positions import POSITION_SCHEMA
from schemas.rule_options import RULE_OPTIONS_SCHEMA
from services.referee.rules import RULESETS, GameState
from services.referee.rules.moves.play_off import board_reference
from services.referee.rules.position_form import state_as_position
from services.referee.rules.setup.create_game import resolve_rule_options


def position_json(state: GameState) -> dict[str, object]:
    """The position as JSON, without fields that say nothing."""
    fields = POSITION_SCHEMA.write(state_as_position(state))
    return {
        name: value
        for name, value in fields.items()
        if value is not None and value is not False and value != []
    }


def position_question(state: GameState) -> dict[str, object]:
    """The question about this position, with no commands yet: rules, board and options as the game has them."""
    usual = RULE_OPTIONS_SCHEMA.write(resolve_rule_options(RULESETS[state.ruleset.name], state.board, {}))
    options = RULE_OPTIONS_SCHEMA.write(state.rule_options)
    return {
        "ruleset": state.ruleset.name,
        "board": board_reference(state.board),
        "seats": len(state.seats),
        "options": {name: value for name, value in options.items() if value != usual[name]},
        "position": position_json(state),
        "commands": [],
        "legal": True,
    }

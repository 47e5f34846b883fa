"""A game of a package that can't be played ends each program's start with one sentence, which names the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.games.installed import Environment

GAME = """
from dataclasses import dataclass
from typing import Annotated
from pydantic import Field
from schemas.contract import PUBLIC, CommandContract, EventContract, command, contract, event
from schemas.field_types import Int
from schemas.game_options import GameOptions
from services.referee.games.appliers import applies
from services.referee.games.found_games import Game
from services.referee.games.kit import Pieces, plain_ruleset, rank
from services.referee.games.state import ACTION, Move

@contract()
class Options(GameOptions):
    nods: Annotated[Int, Field(ge=1, description="How often each seat nods.")] = 1

@command(type="nod", code="broken:1", sender="player", description="nod")
class Nod(CommandContract):
    pass

@event(type="nodded", code="broken:1", visibility=PUBLIC, sentence="A nod.")
class Nodded(EventContract):
    pass

@applies(Nodded)
def nodded(state, event):
    pass

MOVES = {ACTION: (Move(Nod, lambda state, seat: [Nod()], lambda *_: [Nodded()]),)}
RULES = plain_ruleset("nods", Options(), Pieces(dict, dict, lambda s, v: ()), MOVES, lambda s: (), lambda s: ())
GAME = Game("nods", (RULES,))
"""
PREFIX = "ledgerline: the game 'broken' of the package broken 2.0 can't be played here: "
CASES = {
    "it can't be imported": ("", "import nowhere", "No module named 'nowhere'"),
    "it has a fault": ("", "{}['a']", "KeyError: 'a'"),
    "it has no game": ("GAME = ", "NONE = ", "module 'broken' has no attribute 'GAME'"),
    "its game is none": ('Game("nods", (RULES,))', "5", "broken:GAME is no Game"),
    "its name is taken": (
        'Game("nods"', 'Game("tricks"', "services.referee.games.tricks has a game 'tricks' already",
    ),
    "its ruleset is taken": (
        'plain_ruleset("nods"', 'plain_ruleset("usa"', "another game has a ruleset 'usa' of version 1 already",
    ),
    "its command is taken": (
        'type="nod"', 'type="play_card"',
        "the command Nod of broken has the type or the code 'play_card' of PlayCard of services.referee.games.tricks",
    ),
    "its code is taken": (
        'code="broken:1", vis', 'code="tricks:1", vis',
        "the event Nodded of broken has the type or the code 'tricks:1' of CardPlayed of services.referee.games.tricks",
    ),
    "an event does nothing": ("@applies(Nodded)", "", "no applier for the event Nodded"),
    "a command is answered by nobody": (", MOVES,", ", {},", "nothing decides the command Nod"),
    "an event has no sentence": ('"A nod."', '""', "the event Nodded has no sentence"),
    "a command isn't described": ('description="nod"', 'description=""', "the command Nod has no description"),
    "an option isn't described": (
        ', description="How often each seat nods."', "", "the option nods of nods has no description"),
    "a sentence names what isn't there": (
        '"A nod."', '"{seat} nods."', "the words of Nodded name fields that it lacks: ['seat']",
    ),
}  # fmt: skip


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(tmp_path)


def test_a_whole_game_is_found_by_its_entry_point(environment: Environment) -> None:
    environment.install_module("broken", "broken:GAME", GAME)
    refused = environment.run("play", "--rules", "none")
    assert refused.returncode == 2
    assert refused.stderr.split() == ["ledgerline:", "--rules:", "there", "is", "no", "ruleset", "'none';", "there", "is", "usa,", "europe,", "marklin,", "trains,", "tricks,", "nods"]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_game_that_cannot_be_played_ends_the_start_with_one_sentence(
    environment: Environment, case: str
) -> None:
    right, wrong, reason = CASES[case]
    assert right in GAME
    environment.install_module("broken", "broken:GAME", GAME.replace(right, wrong, 1) if right else wrong)
    assert environment.run("ask") == (1, "", f"{PREFIX}{reason}\n")


@pytest.mark.long
@pytest.mark.parametrize("words", ["serve", "gateway", "referee", "bots", "auditor", "ask", "play", "status"])
def test_it_ends_the_start_of_each_program(environment: Environment, words: str) -> None:
    environment.install_module("broken", "broken:GAME", "import nowhere")
    assert environment.run(words) == (1, "", f"{PREFIX}No module named 'nowhere'\n")


FIRST_ASKED = "from services.referee.games.found_games import GAMES, RULESETS"


@pytest.mark.parametrize(
    "modules",
    [
        pytest.param({"broken": GAME}, id="a module"),
        pytest.param({"broken_rules": GAME, "broken": "from broken_rules import GAME"}, id="two modules"),
        pytest.param(
            {"broken": f"{FIRST_ASKED}\nfirst = [*RULESETS]\n{GAME}"}, id="a module that asks for games"
        ),
    ],
)
def test_a_game_may_be_imported_before_the_product(environment: Environment, modules: dict[str, str]) -> None:
    environment.install_module("broken", "broken:GAME", modules["broken"])
    for name, source in modules.items():
        (environment.packages / f"{name}.py").write_text(source)
    asked = f"import broken; {FIRST_ASKED}; print(GAMES['nods'] is broken.GAME, *RULESETS)"
    assert environment.run_python("-c", asked) == (0, "True usa europe marklin trains tricks nods\n", "")


def test_a_game_that_is_imported_first_and_cannot_be_played_says_so_whenever_games_are_asked_for(
    environment: Environment,
) -> None:
    environment.install_module("broken", "broken:GAME", GAME.replace("@applies(Nodded)", ""))
    asked = f"""
import broken
{FIRST_ASKED}
for _ in range(2):
    try:
        print(*RULESETS)
    except Exception as error:
        print(f"{{type(error).__name__}}: {{error}}")
"""
    reason = PREFIX.removeprefix("ledgerline: ") + "no applier for the event Nodded\n"
    assert environment.run_python("-c", asked) == (0, f"InstalledGameError: {reason}" * 2, "")

"""Planted bugs of the rules."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant

CARDS: Final = ("tests/rules/test_cards.py", "tests/rules/test_rebuilt_decks.py")
TUNNELS: Final = ("tests/rules/test_tunnels.py", "tests/rules/test_cards.py")
DRAWS: Final = ("tests/rules/test_marklin_draws.py",)
TRAINS: Final = ("tests/rules/test_trains_setup.py", "tests/rules/test_requests.py")
SCORES: Final = ("tests/verification/audit/test_running_score.py",)
FILES: Final = ("tests/verification/proof/test_cheating_with_decks.py", "tests/golden/test_golden.py")
COMPILED: Final = ("tests/deploy/test_compiled_rules.py", "tests/deploy/test_compiled_modules.py")
VERSIONS: Final = ("tests/rules/test_ruleset_versions.py", "tests/golden/test_next_version.py")

RULES_MUTANTS: Final = (
    Mutant(
        "shuffled discards go under the rest in europe too", "TUNNEL-1", "services/referee/games/trains/rulesets.py",
        "    rebuild_deck=shuffle_all_together,\n", "", TUNNELS,
    ),
    Mutant(
        "flushes are counted, not reshuffles", "MARKET-2", "services/referee/games/trains/moves/turns.py",
        "        yield MarketFlushed()\n", "        yield MarketFlushed()\n        epoch -= 1\n", CARDS,
    ),
    Mutant(
        "reshuffles for flushes have no limit", "MARKET-2", "services/referee/games/trains/moves/turns.py",
        "state.epoch - epoch >= state.rule_options.flush_most", "state.epoch - epoch >= 50", CARDS,
    ),
    Mutant(
        "a mix that the decks can't supply is legal", "TICKET-3", "services/referee/games/trains/moves/tickets.py",
        "return all(count <= left[deck] for deck, count in decks.items())", "return True", DRAWS,
    ),
    Mutant(
        "where few are left only the named ones are offered", "TICKET-3", "services/referee/games/trains/moves/tickets.py",
        "yield from offer_tickets(state, seat, rest if is_scarce else mix,", "yield from offer_tickets(state, seat, mix,",
        DRAWS,
    ),
    Mutant(
        "what is there can't be named where few are left", "TICKET-3", "services/referee/games/trains/moves/tickets.py",
        "if not is_scarce or mix != rest:", "if True:", DRAWS,
    ),
    Mutant(
        "a passenger's points wait for the end", "PASSENGER-3", "services/referee/games/trains/train_state.py",
        "return self.points + self.merchandise", "return self.points", SCORES,
    ),
    Mutant(
        "a board of any connections plays", "GAME-6", "services/referee/games/trains/rulesets.py",
        "    require_board=require_connections,\n", "", TRAINS,
    ),
    Mutant(
        "two connections of one colour join two cities", "GAME-6", "services/referee/games/trains/setup/validation.py",
        "        joined.add(ends_and_color)\n", "", TRAINS,
    ),
    Mutant(
        "the hand of a seat removed before it chose is lost", "CONDUCT-2", "services/referee/games/trains/setup/deal.py",
        "        yield HandReturned(seat, tuple(cards))\n", "        yield from ()\n", TRAINS,
    ),
    Mutant(
        "cards that weren't handed over are lost", "CONDUCT-2", "services/referee/games/trains/setup/deal.py",
        "        yield HandReturned(*table.untaken)\n", "        yield from ()\n", TRAINS,
    ),
    Mutant(
        "destinations given back by removal are shuffled", "CONDUCT-2", "services/referee/games/trains/setup/deal.py",
        "    if any(seat_state.own.offer for seat_state in state.seats):\n", "    if True:\n", TRAINS,
    ),
    Mutant(
        "the hand goes under the deck", "CONDUCT-2", "services/referee/games/trains/appliers.py",
        "    state.own.deck += [HIDDEN]", "    state.own.deck[:0] = [HIDDEN]", TRAINS,
    ),
    Mutant(
        "the youngest is last", "TURN-1", "services/referee/games/create_game.py",
        '"youngest": 1}', '"youngest": -1}', TRAINS,
    ),
    Mutant(
        "games of a former version go on by today's", "P4", "services/referee/games/found_games.py",
        "RULESET_VERSIONS.get((name, version))",
        "RULESET_VERSIONS.get(max(key for key in RULESET_VERSIONS if key[0] == name))", VERSIONS,
    ),
    Mutant(
        "a rebuilt deck's old places are kept", "P6", "services/referee/games/proof/pile_tracker.py",
        "            self.runs[pile] = []\n", "            pass\n", FILES,
    ),
    Mutant(
        "compiled rules decide though the sources changed", "P4", "services/compiled_rules/__init__.py",
        "folder = builds / build_key(root)", "folder = min(builds.iterdir())", COMPILED,
    ),
    Mutant(
        "compiled rules are loaded beside what was imported", "P4", "services/compiled_rules/__init__.py",
        "if loaded := finder.names & sys.modules.keys():", "if loaded := finder.names & set():", COMPILED,
    ),
    Mutant(
        "the command line looks for compiled rules too late", "P4", "services/cli/main.py",
        "import services.compiled_rules.at_start  # noqa: F401 - before any module that may be compiled\n", "", COMPILED,
    ),
    Mutant(
        "the key of a build leaves out sources that compiled code takes types from", "P4", "services/compiled_rules/__init__.py",
        '    "services/ledger",\n', "", COMPILED,
    ),
)  # fmt: skip

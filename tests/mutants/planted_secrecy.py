"""Planted bugs of secrecy and of chance. The first two are known from public systems."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant

GATE: Final = ("tests/secrecy/test_gate_usa_europe.py",)
DEALS: Final = ("tests/secrecy/test_deals.py",)
GUESSING: Final = ("tests/secrecy/test_guessing.py",)
AFFORDED: Final = """sorted(
        {c.route for s in table.awaits for c in __import__("services.referee.rules", fromlist=["legal"]).legal(table, s)
         if hasattr(c, "route")}
    )"""

SECRECY_MUTANTS: Final = (
    Mutant(
        "the starting state is sent unfiltered", "P5", "services/referee/rules/views.py",
        "HandDealt: lambda e: HandDealt(e.seat, _down(e.cards)),", "HandDealt: lambda e: e,", DEALS,
    ),
    Mutant(
        "what the seat to act can afford is published", "P5", "services/referee/rules/proof/sealing.py",
        "pack_public(entry.at, turned, Proofs(",
        f"pack_public(entry.at, turned._replace(public=(*turned.public, (99, {AFFORDED}))), Proofs(",
        GATE,
    ),
    Mutant(
        "a card drawn blind lies open", "P5", "services/referee/rules/views.py",
        "CardDrawn: lambda e: CardDrawn(e.seat, HIDDEN),", "CardDrawn: lambda e: e,", GATE,
    ),
    Mutant(
        "others read why a command was refused", "P5", "services/referee/rules/views.py",
        "return event if event.seat is None else None", "return event", GATE,
    ),
    Mutant(
        "a refusal names another's cards", "P5", "services/referee/rules/decide.py",
        """raise Refused("TURN-1", "it isn't your turn")""",
        """raise Refused("TURN-1", f"it isn't your turn, but {table.places[table.turn].hand}'s")""", GATE,
    ),
    Mutant(
        "legal moves follow the deck", "P5", "services/referee/rules/moves/cards.py",
        "return (_BLIND,) if cards_left(table) else ()",
        "return (_BLIND,) if cards_left(table) and table.deck[-1:] != [LOCOMOTIVE] else ()", GATE,
    ),
    Mutant(
        "bots are called in the order of their tickets", "P5", "services/referee/scheduling.py",
        "for seat in table.awaits if (policy",
        "for seat in sorted(table.awaits, key=lambda s: str(places[s].offer)) if (policy", DEALS,
    ),
    Mutant(
        "a seat's part goes to the next one", "P5", "services/referee/rules/proof/sealing.py",
        '(seat, _part(past, entry, seat, rows, openings.get(seat, b""), FORMAT))',
        '((seat + 1) % len(table.places), _part(past, entry, seat, rows, openings.get(seat, b""), FORMAT))', GATE,
    ),
    Mutant(
        "the number of commitments tells of a part", "P5", "services/referee/rules/proof/sealing.py",
        "kept += hash_chain.part_commitment(", "kept += (1 + part[-1] % 2) * hash_chain.part_commitment(", GATE,
    ),
    Mutant(
        "a deadline tells of a hand", "P5", "services/referee/scheduling.py",
        "moments = [deadline[0]] if deadline else []",
        'moments = [deadline[0] + table.places[deadline[1]].hand["red"]] if deadline else []', GATE,
    ),
    Mutant(
        "a fork shows what its asker doesn't know", "P5", "services/referee/rules/setup/fork.py",
        "table = redeal(table, self.knowledge[asker], _by(seed))", "pass", DEALS,
    ),
    Mutant(
        "cards change places with any", "P6", "services/referee/rules/shuffle.py",
        "size = last + 1", "size = len(row)", ("tests/secrecy/test_chance.py",),
    ),
    Mutant(
        "salts follow from what is told of the seed", "P6", "services/referee/rules/proof/sealing.py",
        "vault = vault_of(table.seed, table.game)", "vault = vault_of(table.commitment, table.game)", GUESSING,
    ),
    Mutant(
        "the key follows from what is told of the seed", "P6", "services/referee/rules/fair_randomness.py",
        'sha256(b"ledgerline/key/1" + bytes.fromhex(table.seed)',
        'sha256(b"ledgerline/key/1" + bytes.fromhex(table.commitment)', GUESSING,
    ),
)  # fmt: skip

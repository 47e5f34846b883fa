"""Planted bugs of secrecy and of chance. The first two are known from public systems."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant

GATE: Final = ("tests/secrecy/test_gate.py",)
DEALS: Final = ("tests/secrecy/test_deals.py",)
GUESSING: Final = ("tests/secrecy/test_guessing.py",)
ENVIRONMENT: Final = ("tests/secrecy/test_environment.py",)
SEARCHER: Final = ("tests/bots/test_searcher.py",)
AFFORDED: Final = """sorted(
        {c.route for s in state.pending_choices for c in __import__("services.referee.games", fromlist=["legal"]).legal(state, s)
         if hasattr(c, "route")}
    )"""

SECRECY_MUTANTS: Final = (
    Mutant(
        "the starting state is sent unfiltered", "P5", "schemas/events.py",
        '@event(type="hand_dealt", code=6, visibility=Private(owner="seat", hides=("cards",)), draws="cards")',
        '@event(type="hand_dealt", code=6, visibility=PUBLIC, draws="cards")', DEALS,
    ),
    Mutant(
        "what the seat to act can afford is published", "P5", "services/referee/games/proof/sealing.py",
        "pack_public(entry.at, split, Proofs(",
        f"pack_public(entry.at, split._replace(public=(*split.public, (99, {AFFORDED}))), Proofs(",
        GATE,
    ),
    Mutant(
        "a card drawn blind is public", "P5", "schemas/trains/events.py",
        '@event(type="card_drawn", code=13, visibility=Private(owner="seat", hides=("card",)), draws="card")',
        '@event(type="card_drawn", code=13, visibility=PUBLIC, draws="card")', GATE,
    ),
    Mutant(
        "others read why a command was refused", "P5", "schemas/events.py",
        'visibility=Private(owner="seat", hides=WHOLE_EVENT, public_if_null="seat")', "visibility=PUBLIC", GATE,
    ),
    Mutant(
        "a refusal names another's cards", "P5", "services/referee/games/decide.py",
        "reason = \"it isn't your turn\" if", "reason = f\"it isn't your turn, but {state.seats[state.turn].own.hand}'s\" if", GATE,
    ),
    Mutant(
        "legal moves follow the deck", "P5", "services/referee/games/trains/moves/cards.py",
        "return _BLIND_DRAWS if state.own.deck or has_cards_left(state) else ()",
        "return _BLIND_DRAWS if has_cards_left(state) and state.own.deck[-1:] != [LOCOMOTIVE] else ()", GATE,
    ),
    Mutant(
        "bots are called in the order of their tickets", "P5", "services/referee/decision_building.py",
        "        for seat in state.pending_choices\n",
        "        for seat in sorted(state.pending_choices, key=lambda s: str(seat_states[s].own.offer))\n", DEALS,
    ),
    Mutant(
        "a seat's private part goes to the next seat", "P5", "services/referee/games/proof/sealing.py",
        "            seat,\n            pack_private_part(",
        "            (seat + 1) % len(state.seats),\n            pack_private_part(", GATE,
    ),
    Mutant(
        "the number of commitments depends on a private part", "P5", "services/referee/games/proof/sealing.py",
        "commitments += hash_chain.private_part_commitment(", "commitments += (1 + private_part[-1] % 2) * hash_chain.private_part_commitment(", GATE,
    ),
    Mutant(
        "a deadline depends on a hand", "P5", "services/referee/decision_building.py",
        "wakeups_ms = [deadline[0]] if deadline else []",
        "wakeups_ms = [deadline[0] + state.seats[deadline[1]].hand[\"red\"]] if deadline else []", GATE,
    ),
    Mutant(
        "the class of AI-MAS shows everybody's hand", "P5", "services/trains/ai_mas.py",
        "for card, count in seat_state.own.hand.items() if is_own and card", "for card, count in seat_state.own.hand.items() if card", GATE,
    ),
    Mutant(
        "a fork shows what its asker doesn't know", "P5", "services/referee/games/trains/setup/fork.py",
        "state = determinize(state, self.knowledge[asker], _fork_shuffle(seed))", "pass", DEALS,
    ),
    Mutant(
        "cards change places with any", "P6", "services/referee/games/shuffle.py",
        "other = size - 1, word % size", "other = size - 1, word % len(result)", ("tests/secrecy/test_chance.py",),
    ),
    Mutant(
        "salts follow from the seed's public commitment", "P6", "services/referee/games/proof/sealing.py",
        "salt_key = derive_salt_key(state.seed, state.game)", "salt_key = derive_salt_key(state.commitment, state.game)", GUESSING,
    ),
    Mutant(
        "the key follows from the seed's public commitment", "P6", "services/referee/games/fair_randomness.py",
        "sha256(b\"ledgerline/key/1\" + bytes.fromhex(state.seed)",
        "sha256(b\"ledgerline/key/1\" + bytes.fromhex(state.commitment)", GUESSING,
    ),
    Mutant(
        "a sampled world keeps what others hold, where the state has it", "P5", "services/bots/trains/searching/world_sampler.py",
        "    if not is_view(state):", "    if False:", SEARCHER,
    ),
    Mutant(
        "a sampled world deals no ticket that another seat holds", "P5", "services/bots/trains/searching/world_sampler.py",
        "for name, each in ends.items() if name not in seen]",
        "for name, each in ends.items() if name not in {*seen, *state.seats[seat - 1].tickets}]", SEARCHER,
    ),
    Mutant(
        "an environment's agents fold every event whole", "P5", "services/tournament/viewed_game.py",
        "                elif shown is not None:\n                    unseen.append(shown)",
        "                elif shown is not None:\n                    unseen.append(event)", ENVIRONMENT,
    ),
)  # fmt: skip

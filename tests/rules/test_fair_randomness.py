"""Randomness as docs/reference/proof.md specifies it: implemented here again from the page alone."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from schemas.commands import Command, CommandEnvelope, CreateGame, SeatPlan, StartGame, TakeSeat
from schemas.events import DeckShuffled, GameCreated, SeatTaken, SeedSealed
from schemas.stored.hash_chain import derive_salt_key
from schemas.stored.rows import pack
from schemas.trains.rule_options import RULE_OPTIONS_SCHEMA
from services.referee.games import GameState, decide_envelope
from services.referee.games.fair_randomness import (
    card_leaves,
    card_salt,
    compute_order_root,
    compute_setup_digest,
    derive_shuffle_key,
    merkle_root,
)
from services.referee.games.shuffle import in_canonical_order, seed_from_text, shuffled
from tests.rules.given import SEED, Scene, create_from

ADAS, BOBS = "ada0" * 16, "b0b0" * 16
PERSON, BOT = SeatPlan(), SeatPlan("bot", "random")


def seated(*contributions: str | None, **create_fields: Any) -> Scene:
    """A game with a person for each contribution, and one bot."""
    scene = create_from(CreateGame((*(PERSON for _ in contributions), BOT), **create_fields))
    for number, contribution in enumerate(contributions):
        scene.when(None, TakeSeat(f"person {number}", contribution=contribution))
    return scene


def h(*parts: bytes) -> bytes:
    return sha256(b"".join(parts)).digest()


def test_P1_the_key_is_made_of_the_seed_the_rules_all_contributions_and_the_game() -> None:
    state = seated(ADAS, BOBS).when(None, StartGame()).state
    seed = bytes.fromhex(SEED)
    rule_options = RULE_OPTIONS_SCHEMA.write(state.rule_options)
    rules = pack(["usa", state.ruleset.version, "usa", state.own.board.digest, rule_options, 3])
    server_contribution = h(b"ledgerline/contribution/1", seed, b"\x02")
    contributions = (bytes.fromhex(ADAS), bytes.fromhex(BOBS), server_contribution)
    key = h(b"ledgerline/key/1", seed, h(b"ledgerline/rules/1", rules), *contributions, state.game.encode())
    assert state.shuffle_key == key.hex()


def test_P1_games_of_one_named_seed_are_dealt_alike_under_any_id() -> None:
    one, two = (seated(ADAS, seed="cup 7").when(None, StartGame()).state for _ in range(2))
    two.game = "another"
    assert derive_shuffle_key(one) == derive_shuffle_key(two)
    two.seats[0].contribution = BOBS  # such a game accepts no contributions
    assert derive_shuffle_key(one) != derive_shuffle_key(two)


def dealt_at(game: str) -> GameState:
    """A game of a tournament: a bot and Ada, dealt from the seed that the cup is played with."""
    state = GameState()
    commands: tuple[Command, ...] = (CreateGame((BOT, PERSON), seed="cup 7"), TakeSeat("Ada"), StartGame())
    for number, command in enumerate(commands):
        decide_envelope(state, CommandEnvelope(f"c{number}", game, None, command), 0, SEED)
    return state


def test_P5_a_persons_secret_in_one_game_of_a_named_seed_opens_nothing_in_another() -> None:
    """The same cards are in the same places; every salt differs."""
    one, two = dealt_at("table-1"), dealt_at("table-2")
    assert one.own.deck == two.own.deck
    assert one.seats[0].seat_secret == two.seats[0].seat_secret  # bots play alike
    assert one.seats[1].seat_secret != two.seats[1].seat_secret
    assert derive_salt_key(one.seed or "", one.game) != derive_salt_key(two.seed or "", two.game)
    assert compute_order_root(one, ("red",)) != compute_order_root(two, ("red",))


def test_P1_every_ingredient_changes_the_key() -> None:
    def key(scene: Scene, **changed: Any) -> str:
        for name, value in changed.items():
            setattr(scene.state, name, value)
        return derive_shuffle_key(scene.state)

    keys = [
        key(seated(ADAS)),
        key(seated(BOBS)),
        key(seated(None)),
        key(seated(ADAS, BOBS)),
        key(seated(BOBS, ADAS)),
        key(seated(ADAS), seed="5f" * 32),
        key(seated(ADAS), game="another"),
        key(seated(ADAS), setup_digest="5f" * 32),
        key(seated(ADAS, options={"cars": 44})),
        key(seated(ADAS, board="usa-1910")),
    ]
    assert len(set(keys)) == len(keys)
    assert key(seated(ADAS)) == keys[0]


def test_P1_whatever_makes_a_different_game_changes_the_setup_digest() -> None:
    event = create_from(CreateGame((PERSON, BOT))).events_of(GameCreated)[0]
    changes: list[dict[str, Any]] = [
        {"ruleset": "europe"},
        {"rules": 99},
        {"board": "usa-1910"},
        {"board_digest": "5f" * 32},
        {"parameters": {**event.parameters, "cars": 44}},
        {"seats": event.seats[:-1]},
    ]
    terms = [compute_setup_digest(replace(event, **change)) for change in ({}, *changes)]
    assert len(set(terms)) == len(terms)
    assert (
        compute_setup_digest(replace(event, created=7, opened=8)) == terms[0]
    )  # who plays it, and when, is no part of it


def test_P1_the_deck_is_shuffled_by_the_key_and_not_by_the_seed() -> None:
    scene = seated(ADAS).when(None, StartGame())
    dealt = scene.events_of(DeckShuffled)[0]
    row = in_canonical_order(scene.state.rule_options.cards.items())
    assert dealt.order == shuffled(row, scene.state.shuffle_key, 0) != shuffled(row, SEED, 0)


def test_P1_a_seat_without_a_contribution_gets_zeros_and_the_log_says_so() -> None:
    taken = seated(None).only(SeatTaken)
    assert (taken.contribution, taken.by) == ("00" * 32, "nobody")


def test_P1_a_players_contribution_is_public_in_the_log() -> None:
    taken = seated(ADAS).only(SeatTaken)
    assert (taken.contribution, taken.by) == (ADAS, "seat")


def test_P1_a_bot_s_contribution_follows_from_the_seed_by_its_seat() -> None:
    scene = create_from(CreateGame((BOT, BOT)))
    seed = bytes.fromhex(SEED)
    for seat, taken in enumerate(scene.events_of(SeatTaken)):
        expected = h(b"ledgerline/contribution/1", seed, bytes([seat])).hex()
        assert (taken.contribution, taken.by) == (expected, "server")
    assert scene.events_of(SeedSealed)[0].given is False


def test_P1_with_a_named_seed_contributions_are_ignored_and_the_log_says_so() -> None:
    scene = create_from(CreateGame((PERSON, BOT), seed="friday"))
    assert scene.events_of(SeedSealed)[0].given is True
    created, seed = scene.events_of(GameCreated)[0], bytes.fromhex(seed_from_text("friday"))
    taken = [
        *scene.events_of(SeatTaken),
        *scene.when(None, TakeSeat("Ada", contribution=ADAS)).events_of(SeatTaken),
    ]
    assert created.seats == (PERSON, BOT)
    assert {(one.seat, one.contribution, one.by) for one in taken} == {
        (seat, h(b"ledgerline/contribution/1", seed, bytes([seat])).hex(), "seed") for seat in (0, 1)
    }


# -- what cards are committed to by --------------------------------------------------------------


def by_halves(leaves: list[bytes]) -> bytes:
    """The root by halves: the left part is the greatest power of two below the length. It is the same tree."""
    if len(leaves) == 1:
        return leaves[0]
    half = 1 << (len(leaves) - 1).bit_length() - 1
    return h(b"ledgerline/node/1", by_halves(leaves[:half]), by_halves(leaves[half:]))


@given(leaves=st.lists(st.binary(min_size=16, max_size=16), max_size=70))
def test_P5_the_root_is_that_of_the_page(leaves: list[bytes]) -> None:
    alone = h(b"ledgerline/node/1", *leaves)
    assert merkle_root(b"".join(leaves)) == (by_halves(leaves) if len(leaves) > 1 else alone)


def test_P5_leaves_hold_the_salt_of_their_place_and_the_name() -> None:
    vault, names, epoch = b"\x07" * 32, ("red", "blue"), 1 << 33
    expected = b""
    for position, name in enumerate(names):
        place = epoch.to_bytes(8, "big") + position.to_bytes(8, "big")
        salt = h(b"ledgerline/card-salt/1", vault, place)[:16]
        assert card_salt(vault, epoch, position) == salt
        expected += h(b"ledgerline/card/1", salt, name.encode())[:16]
    assert card_leaves(vault, epoch, names) == expected


def test_P5_a_shuffle_shows_the_root_of_its_leaves() -> None:
    scene = seated(ADAS).when(None, StartGame())
    shuffle, game = scene.events_of(DeckShuffled)[0], scene.state.game.encode()
    vault = h(b"ledgerline/vault/1", bytes.fromhex(SEED), game)
    assert shuffle.root == merkle_root(card_leaves(vault, 0, shuffle.order)).hex()

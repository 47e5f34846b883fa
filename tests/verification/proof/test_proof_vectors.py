"""docs/reference/proof-vectors.md, recomputed: by the product, and from docs/reference/proof.md alone."""

from __future__ import annotations

import re
from base64 import b64decode
from hashlib import sha256
from typing import Any

import msgpack

from schemas.stored import hash_chain
from schemas.stored.player_names import SaltedName, by_commitment, pack_names
from services.archive import Signer, build_statement, decode_game_file, is_signed
from services.referee.games.fair_randomness import card_leaf, card_salt, derive_contribution, merkle_root
from services.referee.games.shuffle import commit_to_seed, derive_seat_secret, seed_from_text
from tests.verification.proof.given import ROOT, verify_game

PAGE = (ROOT / "docs" / "reference" / "proof-vectors.md").read_text(encoding="utf-8")
Vector = dict[str, str]


def vectors(kind: str) -> list[Vector]:
    """The blocks of one kind on the page, each as its fields."""
    blocks = re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    return [dict(re.findall(r"^([a-z0-9 ]+): (.*)$", block, re.MULTILINE)) for block in blocks]


def h(label: str, *parts: bytes) -> bytes:
    """H of the page, over a label and parts."""
    return sha256(f"ledgerline/{label}/1".encode() + b"".join(parts)).digest()


def u64(number: int) -> bytes:
    return number.to_bytes(8, "big")


[SEED_BLOCK] = vectors("seed")
SEED, VAULT = SEED_BLOCK["seed"], bytes.fromhex(SEED_BLOCK["vault"])


def test_the_page_has_every_kind_of_vector() -> None:
    kinds = ("seed", "key", "leaf", "root", "name", "chain", "entry", "final", "head")
    assert [len(vectors(kind)) for kind in kinds] == [1, 1, 7, 5, 1, 1, 3, 1, 1]


def test_a_name_and_its_commitment() -> None:
    [vector] = vectors("name")
    salted = SaltedName(bytes.fromhex(vector["salt"]), vector["name"])
    assert salted.commitment == vector["commitment"]
    assert h("name", salted.salt, salted.name.encode()).hex() == vector["commitment"]
    assert pack_names(by_commitment([salted])).hex() == vector["names"]


def test_the_seed_and_what_follows_from_it() -> None:
    assert {
        "text": "ledgerline",
        "seed": seed_from_text("ledgerline"),
        "commitment": commit_to_seed(SEED),
        "vault": hash_chain.derive_salt_key(SEED, "demo").hex(),
        "luck of seat 0": derive_seat_secret(SEED, 0, "demo"),  # a person
        "luck of seat 1": derive_seat_secret(SEED, 1),  # a bot
        "luck of seat 0 freed once": derive_seat_secret(SEED, 0, "demo", 1),
        "luck of seat 1 freed twice": derive_seat_secret(SEED, 1, "", 2),
        "contribution of seat 1": derive_contribution(SEED, 1),
    } == SEED_BLOCK
    of_freed = h("luck", bytes.fromhex(SEED), b"\0", b"demo", b"\0", u64(1))
    assert of_freed.hex() == SEED_BLOCK["luck of seat 0 freed once"]
    assert h("vault", bytes.fromhex(SEED), b"demo") == VAULT
    assert h("contribution", bytes.fromhex(SEED), b"\1").hex() == SEED_BLOCK["contribution of seat 1"]


def test_the_key() -> None:
    [key] = vectors("key")
    packed = msgpack.packb(["usa", 1, "usa", "00" * 32, {"cars": 45, "market": 5}, 2])
    assert packed.hex() == key["packed"]
    assert h("rules", packed).hex() == key["rules"]
    assert key["contribution 1"] == SEED_BLOCK["contribution of seat 1"]
    material = SEED + key["rules"] + key["contribution 0"] + key["contribution 1"]
    assert h("key", bytes.fromhex(material), key["game"].encode()).hex() == key["key"]
    of_given_seed = SEED + key["rules"] + derive_contribution(SEED, 0) + key["contribution 1"]
    assert h("key", bytes.fromhex(of_given_seed)).hex() == key["key of a given seed"]


def test_leaves_and_roots() -> None:
    for leaf in vectors("leaf"):
        epoch, position = int(leaf["epoch"]), int(leaf["position"])
        salt = card_salt(VAULT, epoch, position)
        assert salt == h("card-salt", VAULT, u64(epoch), u64(position))[:16]
        assert (salt.hex(), card_leaf(salt, leaf["name"]).hex()) == (leaf["salt"], leaf["leaf"])
        assert h("card", salt, leaf["name"].encode())[:16].hex() == leaf["leaf"]
    leaves = [bytes.fromhex(leaf["leaf"]) for leaf in vectors("leaf")]
    for root in vectors("root"):
        count = int(root["leaves"])
        assert merkle_root(b"".join(leaves[:count])).hex() == root["root"]
        assert verify_game.root(leaves[:count]).hex() == root["root"]


def test_the_root_of_three_leaves_is_as_described() -> None:
    one, two, three = (bytes.fromhex(leaf["leaf"]) for leaf in vectors("leaf")[:3])
    assert h("node", h("node", one, two), three).hex() == vectors("root")[3]["root"]


def test_the_chain_and_what_its_entries_commit_to() -> None:
    head = hash_chain.initial_head("demo")
    assert vectors("chain") == [{"game": "demo", "head": head.hex()}]
    for entry in vectors("entry"):
        number, public = int(entry["number"]), bytes.fromhex(entry["public"])
        salt, secret = hash_chain.derive_salt(VAULT, number, "demo"), bytes.fromhex(entry["secret"])
        assert salt.hex() == entry["secret salt"]
        assert h("secret", salt, secret)[:16].hex() == entry["secret commitment"]
        assert hash_chain.secret_commitment(salt, secret).hex() == entry["secret commitment"]
        assert read(public)[3].hex() == entry["secret commitment"] + part_commitment(number, entry)
        assert h("leaf", public).hex() == entry["leaf"]
        assert h("head", u64(number), head, h("leaf", public)).hex() == entry["head"]
        head = hash_chain.next_head(head, number, public)
        assert head.hex() == entry["head"]


def part_commitment(number: int, entry: Vector) -> str:
    if "seat" not in entry:
        return ""
    seat_secret = bytes.fromhex(SEED_BLOCK[f"luck of seat {entry['seat']}"])
    salt, part = hash_chain.derive_salt(seat_secret, number, "demo"), bytes.fromhex(entry["part"])
    assert salt.hex() == entry["part salt"]
    assert salt == h("salt", seat_secret, u64(number), b"demo")[:16]
    assert hash_chain.private_part_commitment(salt, part).hex() == entry["part commitment"]
    assert read(part)[4].hex() == vectors("leaf")[0]["salt"]
    return entry["part commitment"]


def read(packed: bytes) -> list[Any]:
    """A row, which must have the canonical encoding."""
    row: list[Any] = msgpack.unpackb(packed, strict_map_key=False)
    assert verify_game.pack(row) == packed
    return row


def test_the_signature() -> None:
    [final] = vectors("final")
    signer, head = Signer(final["private"]), bytes.fromhex(vectors("entry")[-1]["head"])
    statement, key, signature = (bytes.fromhex(final[name]) for name in ("statement", "key", "signature"))
    assert statement == build_statement("demo", 3, head) == b"ledgerline/final/1\0demo\0" + u64(3) + head
    assert (signer.public_key, signer.sign(statement)) == (key, signature)
    assert is_signed(statement, signature, key)
    assert verify_game.is_signed(key, statement, signature)


def test_the_whole_file() -> None:
    [block] = re.findall(r"```file\n(.*?)```", PAGE, re.DOTALL)
    data, [head] = b64decode(block), vectors("head")
    assert verify_game.verify(data)["findings"] == []
    assert decode_game_file(data).head.hex() == head["head"]

"""The shuffle as docs/reference/shuffle.md specifies it: implemented here again from the page alone."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice, permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.trains.field_types import CARDS
from services.referee.games import shuffle
from services.referee.games.shuffle import (
    commit_to_seed,
    derive_seat_secret,
    in_canonical_order,
    random_words,
    seed_from_text,
    shuffled,
)

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "shuffle.md").read_text(encoding="utf-8")
SEEDS = st.binary(min_size=32, max_size=32).map(bytes.hex)
EPOCHS = st.integers(0, 2**64 - 1)
SEED = "00" * 31 + "01"


def page_blocks(kind: str) -> list[dict[str, str]]:
    """The fenced blocks of one kind on the page, each as its fields."""
    blocks = re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    return [
        dict(re.findall(r"^([a-z0-9 ]+): ([^:]*?)$(?=\n[a-z0-9 ]+: |\n\Z)", b, re.M | re.S)) for b in blocks
    ]


def spelled(items: str) -> list[str]:
    row: list[str] = []
    for item in items.split():
        name, _, count = item.partition("*")
        row += [name] * int(count or 1)
    return row


def page_words(seed: bytes, epoch: int) -> Iterator[int]:
    """Step 2 of the page."""
    k = 0
    while True:
        text = b"ledgerline/shuffle/1" + seed + epoch.to_bytes(8, "big") + k.to_bytes(8, "big")
        block = hashlib.sha256(text).digest()
        for start in range(0, 32, 4):
            yield int.from_bytes(block[start : start + 4], "big")
        k += 1


def page_shuffle(items: list[str], seed: bytes, epoch: int) -> list[str]:
    """Step 3 of the page."""
    row, stream = items.copy(), page_words(seed, epoch)
    i = len(row) - 1
    while i >= 1:
        n = i + 1
        word = next(stream)
        while word >= 2**32 // n * n:
            word = next(stream)
        j = word % n
        row[i], row[j] = row[j], row[i]
        i -= 1
    return row


@pytest.mark.parametrize("vector", page_blocks("vector"), ids=["epoch 0", "epoch 1", "a whole deck"])
def test_a_vector_of_the_page_comes_out_twice(vector: dict[str, str]) -> None:
    seed, epoch = vector["seed"], int(vector["epoch"])
    items, order = spelled(vector["items"]), vector["order"].split()
    first = [int(word, 16) for word in vector["words"].split()]

    assert page_shuffle(items, bytes.fromhex(seed), epoch) == order
    assert list(islice(page_words(bytes.fromhex(seed), epoch), 3)) == first

    assert list(shuffled(items, seed, epoch)) == order
    assert list(islice(random_words(seed, epoch), 3)) == first


def test_what_the_page_derives_from_a_text_comes_out() -> None:
    (derived,) = page_blocks("derived")
    seed = hashlib.sha256(b"ledgerline/seed/1" + b"ledgerline").digest()
    assert seed_from_text("ledgerline") == seed.hex() == derived["seed"]
    commitment = hashlib.sha256(b"ledgerline/commitment/1" + seed).hexdigest()
    assert commit_to_seed(seed.hex()) == commitment == derived["commitment"]
    seat_secret = hashlib.sha256(b"ledgerline/luck/1" + seed + b"\x02").hexdigest()
    assert derive_seat_secret(seed.hex(), 2) == seat_secret == derived["seat secret of seat 2"]


@given(count=st.integers(0, 150), seed=SEEDS, epoch=EPOCHS)
def test_the_page_and_the_product_agree(count: int, seed: str, epoch: int) -> None:
    items = [f"i{n}" for n in range(count)]
    assert list(shuffled(items, seed, epoch)) == page_shuffle(items, bytes.fromhex(seed), epoch)


@given(items=st.lists(st.sampled_from(CARDS), max_size=120), seed=SEEDS, epoch=EPOCHS)
def test_a_shuffle_loses_and_adds_nothing_and_repeats(items: list[str], seed: str, epoch: int) -> None:
    before = items.copy()
    order = shuffled(items, seed, epoch)
    assert Counter(order) == Counter(items)
    assert order == shuffled(iter(items), seed, epoch)
    assert items == before


@given(seed=SEEDS, epoch=st.integers(0, 2**64 - 2))
def test_every_epoch_and_every_seed_has_an_order_of_its_own(seed: str, epoch: int) -> None:
    deck = range(110)
    other = bytes([int(seed[:2], 16) ^ 1]).hex() + seed[2:]
    assert (
        len({shuffled(deck, seed, epoch), shuffled(deck, seed, epoch + 1), shuffled(deck, other, epoch)}) == 3
    )


def test_no_item_and_one_item_stay() -> None:
    assert shuffled((), SEED, 0) == ()
    assert shuffled(("a",), SEED, 0) == ("a",)


def test_every_order_of_four_comes_up_about_as_often() -> None:
    """Chi-square over the 24 orders; 49.7 is passed by chance once in a thousand, and this seed is fixed."""
    rounds = 12_000
    counts = Counter(shuffled("abcd", SEED, epoch) for epoch in range(rounds))
    assert set(counts) == set(permutations("abcd"))
    expected = rounds / 24
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 49.7


@pytest.mark.pure_python
@pytest.mark.parametrize(
    ("stream", "order"),
    [
        ((2**32 - 1, 2**32 - 2, 0), "bac"),  # the first is above the greatest multiple of 3
        ((2**32 - 2, 0), "bac"),  # the greatest fair word: 2 modulo 3
        ((2**32 - 1, 2**32 - 1, 0, 2**32 - 1), "cba"),  # dropped twice; for 2 no word is unfair
    ],
)
def test_unfair_words_are_dropped(
    stream: tuple[int, ...], order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No seed is known whose stream has such a word early on, so the stream is replaced."""
    left = iter(stream)
    monkeypatch.setattr(shuffle, "random_words", lambda seed, epoch: left)
    assert "".join(shuffled("abc", SEED, 0)) == order
    assert list(left) == []


def test_cards_are_ordered_as_on_the_page() -> None:
    kinds = re.search(r"Cards are in the order (.*?), all of a kind", PAGE, re.DOTALL)
    assert kinds
    assert tuple(re.split(r",\s+", kinds[1])) == CARDS
    counts = {"passenger": 1, "red": 2, None: 3, "purple": 1, "locomotive": 0}
    assert in_canonical_order(counts.items()) == ["purple", "red", "red", "passenger"]

"""Train cards: the deck and its rebuilding, the market and its sweeps, draws and requests (CARD-*, MARKET-2)."""

from __future__ import annotations

from collections import Counter

from tests.rules.plain.deal import counted
from tests.rules.plain.table import LOCOMOTIVE, Table

CARDS_ASKED_FOR = 2


def provide(t: Table, cards: int, rule: str) -> None:
    """The deck is rebuilt if it has too few for what comes next: all cards are shuffled together where the
    page says so, else the discards go under the rest."""
    if len(t.deck) >= cards or not t.discards:
        return
    if t.page.all_cards_together:
        t.deck = t.shuffle_cards(t.discards + Counter(t.deck), "deck_recreated", rule)
    else:
        t.deck += t.shuffle_cards(t.discards, "deck_shuffled", "CARD-4")
    t.discards = Counter()


def fill_market(t: Table) -> None:
    """Every gap is filled as far as there are cards, and the market swept while it must be."""
    reshuffles = 0
    while fill_gaps(t) and is_swept(t) and reshuffles < t.options["flush_most"]:
        reshuffles += len(t.deck) < len(t.market)
        t.take("market_flushed", "MARKET-2")
        t.discards += t.market_count()
        t.market = [None] * len(t.market)
    if t.next_type() == "market_flushed":
        t.stop("MARKET-2", f"swept with {t.market}")


def fill_gaps(t: Table) -> bool:
    """Whether a card was turned up."""
    gaps = [slot for slot, card in enumerate(t.market) if card is None]
    if not gaps or not (t.deck or t.discards):
        if t.next_type() == "market_filled":
            t.stop("CARD-1", "the market is filled, though there is no gap or no card")
        return False
    provide(t, len(gaps), "MARKET-2")
    event, slots = t.take("market_filled", "CARD-1"), gaps[: len(t.deck)]
    t.same("CARD-1", "slots filled", list(event["slots"]), slots)
    t.same("MARKET-1", "cards turned up", list(event["cards"]), t.deck[: len(slots)])
    for slot in slots:
        t.market[slot] = t.deck.pop(0)
    return True


def is_swept(t: Table) -> bool:
    there = t.market_count()
    return any(there[card] >= least for card, least in t.options["flush"].items())


def has_second_card(t: Table) -> bool:
    """CARD-4: a card blind, or one of the market that isn't a locomotive."""
    return bool(t.deck or t.discards) or any(card not in (None, LOCOMOTIVE) for card in t.market)


def draw_blind(t: Table) -> None:
    provide(t, 1, "CARD-4")
    event = t.take("card_drawn", "CARD-4")
    if not t.deck:
        t.stop("CARD-4", "a card is drawn blind, and there is none")
    seat = event["seat"]
    t.need(not t.page.asks_for_cards, "TURN-2", "a card is drawn")
    t.seats[seat].hand[t.deck.pop(0)] += 1


def take_from_market(t: Table) -> str:
    """The card that was taken; the market is filled again."""
    event = t.take("market_card_taken", "CARD-1")
    seat, slot, card = event["seat"], event["slot"], event["card"]
    if slot >= len(t.market) or t.market[slot] != card:
        t.stop("CARD-1", f"{card} is taken from slot {slot} of {t.market}")
    second = t.waits[seat][0] == "second card"
    t.need(not (second and card == LOCOMOTIVE), "CARD-2", "a locomotive is the second card")
    t.seats[seat].hand[card] += 1
    t.market[slot] = None
    fill_market(t)
    return str(card)


def give_cards(t: Table) -> None:
    """CARD-6: the next two cards of the deck."""
    event = t.take("cards_given", "CARD-6")
    t.need(t.page.asks_for_cards, "TURN-2", "cards are asked for")
    t.same("CARD-6", "cards given", len(event["cards"]), CARDS_ASKED_FOR)
    t.need(len(t.deck) >= CARDS_ASKED_FOR, "CARD-6", f"cards are given, and {len(t.deck)} are left")
    t.seats[event["seat"]].hand += counted(t.deck[:CARDS_ASKED_FOR])
    t.untaken = event["seat"], t.deck[:CARDS_ASKED_FOR]
    del t.deck[:CARDS_ASKED_FOR]


def refuse_cards(t: Table) -> None:
    event = t.take("request_unmet", "CARD-6")
    t.need(t.page.asks_for_cards, "TURN-2", "cards are asked for")
    t.need(len(t.deck) < CARDS_ASKED_FOR, "CARD-6", f"no cards are given, and {len(t.deck)} are left")
    t.unmet.add(event["seat"])
    t.untaken = None

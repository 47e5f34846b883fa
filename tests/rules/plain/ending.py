"""The entry in which a game ends: its tickets, its seed, the scores, and who plays off a shared first place."""

from __future__ import annotations

from collections.abc import Sequence

from tests.rules.plain.counting import compare, count_up
from tests.rules.plain.deal import commitment
from tests.rules.plain.table import Event, Table

RULES = {"last turns": "END-1", "no change": "END-2", "all passed": "END-3", "out of time": "END-4"}


def read_end(t: Table) -> None:
    for seat, at in enumerate(t.seats):
        if not at.cleared:
            event = t.take("tickets_shown", "TICKET-2")
            t.same("TICKET-2", "seat that shows its tickets", event["seat"], seat)
            t.same("TICKET-2", f"tickets of seat {seat}", list(event["tickets"]), at.tickets)
    check_tickets_once(t)
    scores = t.events[-1].get("scores", ())
    if len(scores) != len(t.seats):
        t.stop("SCORE-1", f"{len(scores)} scores for {len(t.seats)} seats")
    due = count_up(t, scores)
    read_play_off(t, [row["seat"] for row in due if row["place"] == 1])
    seed = bytes.fromhex(t.take("seed_revealed", "SETUP-1")["seed"])
    t.same("SETUP-1", "commitment to the seed", commitment(seed), t.commitment)
    event = t.take("game_ended", "END-1")
    t.same(RULES.get(t.reason, "CONDUCT-3"), "reason for the end", event["reason"], t.reason)
    compare(t, due, scores)


def check_tickets_once(t: Table) -> None:
    """Each ticket is there once."""
    held = [ticket for at in t.seats for ticket in at.tickets if ticket]
    if foreign := {*held} - t.board.tickets.keys():
        t.stop("TICKET-2", f"{sorted(foreign)} are no tickets of the board")
    t.need(len(held) == len({*held}), "TICKET-2", "a ticket is held twice")


# -- the play-off (TIE-1) ------------------------------------------------------------------


def read_play_off(t: Table, leaders: Sequence[int]) -> None:
    """Who shares the first place and is still there plays it off, best of so many games."""
    games, series = t.options["play_off"], t.created["play_off"]
    present = [seat for seat, at in enumerate(t.seats) if at.gone in (None, "out of time")]
    tied = [seat for seat in leaders if seat in present]
    if series is not None:
        wins = [won + (leaders == [seat]) for seat, won in enumerate(series["wins"])]
        ends = series["number"] == games or max(wins) > games // 2 or len(present) < len(t.seats)
        if ends:
            event = t.take("play_off_ended", "TIE-1")
            due = [seat for seat, won in zip(series["seats"], wins, strict=True) if won == max(wins)]
            found = (event["of"], list(event["winners"]))
            t.same("TIE-1", "end of the play-off", found, (series["of"], due))
        else:
            of, number, seats = series["of"], series["number"] + 1, list(series["seats"])
            read_call(t, of, number, seats, wins, [*range(len(wins))])
    elif games and len(tied) > 1:
        read_call(t, t.created["game"], 1, tied, [0] * len(tied), tied)


def read_call(
    t: Table, of: str, number: int, seats: Sequence[int], wins: Sequence[int], here: Sequence[int]
) -> None:
    event: Event = t.take("play_off_called", "TIE-1")
    called = event["play_off"]
    found = (
        called["of"],
        called["number"],
        list(called["seats"]),
        list(called["wins"]),
        list(event["seats"]),
    )
    t.same("TIE-1", "play-off that is called", found, (of, number, list(seats), list(wins), list(here)))

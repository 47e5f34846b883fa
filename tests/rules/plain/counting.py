"""The count at the end: tickets, the longest way, loans of stations, bonuses, places (SCORE-*, TIE-1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from tests.rules.plain.board import Route, groups_reached, stop
from tests.rules.plain.claims import points_for
from tests.rules.plain.table import Table
from tests.rules.plain.ways import group_joined, longest_simple_path, longest_trail


def own_routes(t: Table, seat: int) -> list[Route]:
    return [t.board.routes[name] for name, owner in t.owners.items() if owner == seat]


def count_up(t: Table, scores: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What the log's scores must be. Of the loans, which may be equally good, the log's are judged."""
    due = [count_seat(t, seat, scores[seat]) for seat in range(len(t.seats))]
    longest = max(row["longest"] for row in due)
    most = max(len(row["made"]) for row in due)
    holds_longest: dict[int, bool] = {}
    for row in due:
        holds_longest[row["seat"]] = bool(longest) and row["longest"] == longest
        if holds_longest[row["seat"]]:
            row["bonus"] = t.options["longest_bonus"]
        if most and len(row["made"]) == most:
            row["most"] = t.options["most_tickets_bonus"]
        parts = ("routes", "tickets", "bonus", "most", "stations", "merchandise")
        row["total"] = sum(row[part] for part in parts)
    ranks = [rank_of(t, row, holds_longest[row["seat"]]) for row in due]
    for row, rank in zip(due, ranks, strict=True):
        row["place"] = 1 + sum(other > rank for other in ranks)
    return due


def count_seat(t: Table, seat: int, score: Mapping[str, Any]) -> dict[str, Any]:
    """One seat's score, before what takes all seats to know."""
    at, routes = t.seats[seat], own_routes(t, seat)
    way = longest_simple_path if t.page.longest == "path" else longest_trail
    spare = 0 if at.cleared else len(t.options["station_costs"]) - len(at.stations)
    counted = {
        "seat": seat,
        "routes": sum(points_for(t, route) for route in routes),
        "longest": way((stop(t.board, r, 0), stop(t.board, r, 1), r.length) for r in routes),
        "bonus": 0,
        "most": 0,
        "stations": spare * t.options["station_points"],
        "merchandise": at.merchandise,
        **count_tickets(t, seat, routes, score),
    }
    if t.options["points_at_once"] and counted["routes"] != at.points:
        t.differ("SCORE-1", f"seat {seat} scored {at.points}, and its routes come to {counted['routes']}")
    return counted


# -- tickets and loans ---------------------------------------------------------------------


def tickets_made(t: Table, routes: Sequence[Route], tickets: Iterable[str]) -> tuple[list[str], int]:
    """Those whose two places the routes join, and the points of all."""
    group = group_joined((stop(t.board, route, 0), stop(t.board, route, 1)) for route in routes)
    made, points = [], 0
    for ticket in tickets:
        a, b = (groups_reached(t.board, group, routes, place) for place in t.board.tickets[ticket].ends)
        value = t.board.tickets[ticket].points
        if a & b:
            made.append(ticket)
            points += value
        else:
            points -= value
    return made, points


def loans(t: Table, seat: int, city: str, neighbour: str | None) -> list[Route]:
    """STATION-3: others' routes into the city; only those from the neighbour, if one was named."""
    return [
        route
        for route in t.board.routes_at.get(city, ())
        if t.owners.get(route.id, seat) != seat and (neighbour is None or neighbour in route.ends)
    ]


def count_tickets(t: Table, seat: int, routes: list[Route], score: Mapping[str, Any]) -> dict[str, Any]:
    """SCORE-2, with the best of all loans together (STATION-3)."""
    at = t.seats[seat]
    tickets = [ticket for ticket in at.tickets if ticket]
    choices = [loans(t, seat, city, neighbour) for city, neighbour in at.stations.items()]
    lent = [t.board.routes.get(name or "") for name in score["lent"]]
    t.same("STATION-3", f"loans of seat {seat}", len(lent), len(choices))
    for route, name, choice in zip(lent, score["lent"], choices, strict=False):
        t.need(name is None or route in choice, "STATION-3", f"seat {seat} is lent {name}")
    made, points = tickets_made(t, [*routes, *filter(None, lent)], tickets)
    best = best_points(t, routes, tickets, choices)
    t.same("STATION-3", f"points of tickets of seat {seat} by its loans", points, best)
    return {
        "made": sorted(made),
        "missed": sorted({*tickets} - {*made}),
        "tickets": points,
        "won": sum(t.board.tickets[ticket].points for ticket in made),
        "lent": list(score["lent"]),
    }


def best_points(
    t: Table, routes: Sequence[Route], tickets: Sequence[str], choices: Sequence[Sequence[Route]]
) -> int:
    """Every loan of each station is tried with every one of the others."""
    tried: dict[frozenset[frozenset[str]], int] = {}
    for chosen in product(*([None, *choice] for choice in choices)):
        lent = [route for route in chosen if route]
        pairs = frozenset(frozenset(route.ends) for route in lent)  # parallel ones join the same
        if pairs not in tried:
            tried[pairs] = tickets_made(t, [*routes, *lent], tickets)[1]
    return max(tried.values())


# -- places --------------------------------------------------------------------------------


def rank_of(t: Table, row: Mapping[str, Any], holds_longest: bool) -> tuple[int, ...]:
    """Higher is better: whoever stayed, then the points, then the page's tie-breaks."""
    ties = {
        "tickets made": len(row["made"]),
        "points of tickets made": row["won"],
        "stations": row["stations"],
        "longest trail": holds_longest,
        "bonus": row["bonus"],
        "merchandise": row["merchandise"],
    }
    stayed = not t.seats[row["seat"]].cleared
    return (stayed, row["total"] if stayed else 0, *(ties[name] if stayed else 0 for name in t.page.ties))


RULES: Mapping[str, str] = {
    "routes": "SCORE-1",
    "made": "SCORE-2",
    "missed": "SCORE-2",
    "tickets": "SCORE-2",
    "won": "SCORE-2",
    "lent": "STATION-3",
    "longest": "SCORE-3",
    "bonus": "SCORE-3",
    "most": "SCORE-4",
    "stations": "SCORE-5",
    "merchandise": "PASSENGER-3",
    "total": "SCORE-1",
    "place": "TIE-1",
    "seat": "SCORE-1",
}


def compare(t: Table, due: Sequence[Mapping[str, Any]], scores: Sequence[Mapping[str, Any]]) -> None:
    """The log's scores against ours."""
    for row, score in zip(due, scores, strict=True):
        for name, rule in RULES.items():
            found = score[name]
            found = sorted(found) if name in ("made", "missed") else list(found) if name == "lent" else found
            t.same(rule, f"{name} of seat {row['seat']}", found, row[name])

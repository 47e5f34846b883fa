"""Destination tickets: offered, kept and given back (SETUP-2, SETUP-3, TICKET-*).

A seat that withdraws keeps as few as it may (CLOCK-2, CONDUCT-2, CONDUCT-3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Final

from schemas.field_types import Seat
from schemas.game_options import ExitReason
from schemas.refusals import CommandRefusedError, require
from schemas.trains.commands import DrawTickets, KeepTickets
from schemas.trains.events import (
    TicketsKept,
    TicketsNamed,
    TicketsOffered,
    TicketsReturned,
    TicketsShuffled,
    TunnelDeclined,
)
from schemas.trains.rule_options import TicketDestination
from services.referee.games.state import EventStream, Move
from services.referee.games.trains.moves.turns import clean_up_turn, end_turn, next_turn
from services.referee.games.trains.train_state import TICKETS, TUNNEL, TrainGame


def offer_tickets(state: TrainGame, seat: Seat, counts: Mapping[str, int], min_keep: int) -> EventStream:
    """Offer the seat this many tickets of each deck, or what is left of it, from the top."""
    decks, tickets = [], []
    for deck, count in counts.items():
        top_tickets = state.own.ticket_decks[deck][::-1][:count]
        decks += [deck] * len(top_tickets)
        tickets += top_tickets
    yield TicketsOffered(seat, tuple(decks), tuple(tickets), min(min_keep, len(tickets)))


# -- drawing more ------------------------------------------------------------------------


def draw_offers(state: TrainGame, seat: Seat) -> Sequence[DrawTickets]:
    """The draw of tickets, if any is left (TICKET-1)."""
    drawn_counts = state.rule_options.draw_tickets
    for deck, tickets in state.own.ticket_decks.items():
        if tickets and drawn_counts.get(deck):
            return _ONE_DRAW
    return ()


def draw_tickets(state: TrainGame, seat: Seat, command: DrawTickets) -> EventStream:
    """The draw of rules with one fixed mix of tickets; naming that mix is the same as naming none."""
    if command.decks:
        fixed_mix = {deck: count for deck, count in state.rule_options.draw_tickets.items() if count}
        named_mix = {deck: count for deck, count in command.decks.items() if count}
        require(named_mix in ({}, fixed_mix), "TICKET-1", "these tickets are drawn without naming decks")
    require(draw_offers(state, seat), "TICKET-1", "no ticket is left")
    yield from offer_tickets(state, seat, state.rule_options.draw_tickets, state.rule_options.draw_keep)


def mix_offers(state: TrainGame, seat: Seat) -> Sequence[DrawTickets]:
    """Every mix that the decks can supply; all that is left, where it is less than a mix (TICKET-3)."""
    rule_options, left = state.rule_options, tickets_left(state)
    rest = {deck: count for deck, count in left.items() if count}
    if sum(rest.values()) < rule_options.draw_named:
        return [DrawTickets(rest)] if rest else ()
    mixes = _mix_commands(tuple(rule_options.draw_tickets), rule_options.draw_named)
    return [draw for draw in mixes if can_supply(left, draw.decks or {})]


def draw_mix(state: TrainGame, seat: Seat, command: DrawTickets) -> EventStream:
    """The draw of rules where the seat names how many tickets of each deck. With fewer left than it has to
    name it gets all of them, whatever mix it names, and may name just these. Refuses with TICKET-1, TICKET-3."""
    rule_options, left = state.rule_options, tickets_left(state)
    rest = {deck: count for deck, count in left.items() if count}
    is_scarce = sum(rest.values()) < rule_options.draw_named
    mix: Mapping[str, int] = {deck: count for deck, count in (command.decks or {}).items() if count}
    if not is_scarce or mix != rest:
        mix = require_mix(command, rule_options.draw_tickets, rule_options.draw_named, "TICKET-3")
    require(rest, "TICKET-1", "no ticket is left")
    supply = " and ".join(f"{count} {deck}" for deck, count in left.items())
    require(is_scarce or can_supply(left, mix), "TICKET-3", f"no such mix can be had: {supply} are left")
    yield from offer_tickets(state, seat, rest if is_scarce else mix, rule_options.draw_keep)


def tickets_left(state: TrainGame) -> dict[str, int]:
    """Count by deck the tickets that are left of those drawn in a mix."""
    return {deck: len(state.own.ticket_decks[deck]) for deck in state.rule_options.draw_tickets}


def can_supply(left: Mapping[str, int], decks: Mapping[str, int]) -> bool:
    """Whether each deck has as many tickets as the mix takes from it."""
    return all(count <= left[deck] for deck, count in decks.items())


def require_mix(command: DrawTickets, deck_names: Iterable[str], total: int, rule: str) -> Mapping[str, int]:
    """The mix that a command names, in the order of `deck_names`. Refuses with `rule` a wrong total or deck."""
    named_counts, decks = command.decks or {}, tuple(deck_names)
    is_valid = set(named_counts) <= set(decks) and sum(named_counts.values()) == total
    require(is_valid, rule, f"name how many tickets of {' and of '.join(decks)}, {total} in all")
    return {deck: named_counts[deck] for deck in decks if named_counts.get(deck)}


# -- the mix of the starting tickets -------------------------------------------------------


def name_offers(state: TrainGame, seat: Seat) -> Sequence[DrawTickets]:
    """Every mix of starting tickets that a seat may name (SETUP-2)."""
    return _mix_commands(tuple(state.rule_options.start_tickets), state.rule_options.start_named)


def name_tickets(state: TrainGame, seat: Seat, command: DrawTickets) -> EventStream:
    """The mix of starting tickets that a seat wants. Refuses with SETUP-3."""
    rule_options = state.rule_options
    decks = require_mix(command, rule_options.start_tickets, rule_options.start_named, "SETUP-3")
    yield TicketsNamed(seat, decks)
    yield from state.ruleset.parts.after_start_choice(state)


# -- keeping -------------------------------------------------------------------------------


def keep_offers(state: TrainGame, seat: Seat) -> Sequence[KeepTickets]:
    """Every choice of tickets from the seat's offer, as indexes from 0."""
    seat_state = state.seats[seat].own
    return _keep_commands(len(seat_state.offer), seat_state.min_keep, max_tickets_kept(state, seat))


def max_tickets_kept(state: TrainGame, seat: Seat) -> int:
    """The most of the offered tickets that the seat may keep."""
    offered, limit = len(state.seats[seat].own.offer), state.rule_options.start_keep_most
    return offered if state.turn is not None or limit is None else min(limit, offered)


def keep_tickets(state: TrainGame, seat: Seat, command: KeepTickets) -> EventStream:
    """The tickets that a seat keeps of its offer. Refuses with SETUP-2..4 at the start, TICKET-1 later."""
    offer, min_keep = state.seats[seat].own.offer, state.seats[seat].own.min_keep
    is_setup = state.turn is None
    if not set(command.keep).issubset(range(len(offer))) or len(set(command.keep)) < len(command.keep):
        rule = "SETUP-2" if is_setup else "TICKET-1"
        reason = f"keep names places of the {len(offer)} offered tickets, from 0, each once"
        raise CommandRefusedError(rule, reason)
    if len(command.keep) < min_keep:
        rule = "SETUP-3" if is_setup else "TICKET-1"
        raise CommandRefusedError(rule, f"at least {min_keep} of the offered tickets must be kept")
    if len(command.keep) > (max_keep := max_tickets_kept(state, seat)):
        raise CommandRefusedError("SETUP-4", f"at most {max_keep} of the offered tickets may be kept")
    yield TicketsKept(seat, tuple([offer[i] for i in sorted(command.keep)]))
    if is_setup:
        yield from state.ruleset.parts.after_start_choice(state)
    else:
        yield from return_tickets(state, seat)
        yield from end_turn(state, seat)


def return_tickets(state: TrainGame, seat: Seat) -> EventStream:
    """The seat gives back the tickets that it didn't keep: at the start as `start_return` says, later to the bottom."""
    is_setup = state.turn is None
    return return_tickets_to(state, seat, state.rule_options.start_return if is_setup else "bottom")


def return_tickets_to(state: TrainGame, seat: Seat, destination: TicketDestination) -> EventStream:
    """The offered tickets that the seat didn't keep go to the bottom or the top of its decks, out of the game, or
    into its decks before they are shuffled."""
    returned: dict[str, list[str]] = {}
    for ticket in state.seats[seat].own.offer:
        assert ticket is not None, "the referee's state hides no ticket"
        returned.setdefault(state.own.board.tickets[ticket].deck, []).append(ticket)
    for deck, tickets in returned.items():
        yield TicketsReturned(seat, deck, destination, tuple(tickets))


def shuffle_tickets(state: TrainGame, deck: str, tickets: Iterable[str | None]) -> EventStream:
    """These tickets, shuffled, become the whole deck."""
    order = state.ruleset.randomness.shuffle(
        state, sorted(ticket for ticket in tickets if ticket is not None)
    )
    yield TicketsShuffled(deck, order, state.ruleset.randomness.order_root(state, order))


@lru_cache(maxsize=200)
def _keep_commands(offered: int, min_keep: int, max_keep: int) -> Sequence[KeepTickets]:
    """Every set of indexes into the offer of an allowed size, smallest sets first."""
    return tuple(
        KeepTickets(keep)
        for size in range(min_keep, max_keep + 1)
        for keep in combinations(range(offered), size)
    )


@lru_cache(maxsize=200)
def _mix_commands(decks: tuple[str, ...], total: int) -> Sequence[DrawTickets]:
    """Every way to take `total` tickets from these decks."""
    return tuple(
        DrawTickets({deck: n for deck, n in zip(decks, mix, strict=True) if n})
        for mix in _counts(len(decks), total)
    )


def _counts(length: int, total: int) -> Iterator[tuple[int, ...]]:
    """Every row of so many counts with this sum, in order."""
    if length <= 1:
        if length or not total:
            yield (total,) * length
        return
    for first in range(total + 1):
        for rest in _counts(length - 1, total - first):
            yield (first, *rest)


_ONE_DRAW: Final = (DrawTickets(),)

DRAW_TICKETS = Move(DrawTickets, draw_offers, draw_tickets)
DRAW_MIX = Move(DrawTickets, mix_offers, draw_mix)
NAME_TICKETS = Move(DrawTickets, name_offers, name_tickets)
KEEP_TICKETS = Move(KeepTickets, keep_offers, keep_tickets)


def settle_choice(state: TrainGame, seat: Seat, reason: ExitReason) -> EventStream:
    """A seat that withdraws keeps as few tickets as it may, and declines its tunnel; what it had not taken goes back
    where the ruleset says so."""
    seat_state = state.seats[seat].own
    if state.pending_choices.get(seat) == TICKETS and reason != "removed":
        yield TicketsKept(seat, tuple(seat_state.offer[: seat_state.min_keep]))
        if state.turn is not None:
            yield from return_tickets(state, seat)
    if reason == "removed":
        yield from state.ruleset.parts.return_untaken(state, seat)
    if state.pending_choices.get(seat) == TUNNEL:
        yield TunnelDeclined(seat)


def go_on_without(state: TrainGame, seat: Seat) -> EventStream:
    """The setup goes on after a seat withdrew; or, where it was its turn, the next turn begins."""
    if state.turn is None:
        yield from state.ruleset.parts.after_start_choice(state)
    elif state.turn == seat:
        yield from clean_up_turn(state)
        yield from next_turn(state, seat)

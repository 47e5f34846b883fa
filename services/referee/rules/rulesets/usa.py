"""The North America game: routes, tickets and the longest trail."""

from __future__ import annotations

from typing import Final

from schemas.field_types import COLORS, LOCOMOTIVE
from schemas.rule_options import RuleOptions
from services.referee.rules.fair_randomness import SHARED_RANDOMNESS
from services.referee.rules.moves.cards import DRAW_BLIND, DRAW_MARKET
from services.referee.rules.moves.market import shuffle_discards_under
from services.referee.rules.moves.payment import one_colour_payable, require_one_colour
from services.referee.rules.moves.routes import CLAIM_ROUTE
from services.referee.rules.moves.tickets import DRAW_TICKETS, KEEP_TICKETS
from services.referee.rules.moves.turns import PASS
from services.referee.rules.scoring import holds_longest, most_tickets_made
from services.referee.rules.search.longest_trail import longest_trail
from services.referee.rules.setup.deal import continue_after_all_choices, offer_to_all, return_nothing
from services.referee.rules.setup.validation import accept_board, require_tickets_for_all
from services.referee.rules.state import ACTION, SECOND_CARD, TICKETS, Ruleset

RULE_OPTIONS: Final = RuleOptions(
    seats_least=2,
    seats_most=5,
    order="seated",
    cars=45,
    cards={**dict.fromkeys(COLORS, 12), LOCOMOTIVE: 14},
    hand=4,
    market=5,
    flush={LOCOMOTIVE: 3},
    flush_most=5,
    start_tickets={"regular": 3},
    start_named=0,
    start_keep=2,
    start_keep_most=None,
    start_return="bottom",
    draw_tickets={"regular": 3},
    draw_named=0,
    draw_keep=1,
    pair_tickets=None,
    route_points=(1, 2, 4, 7, 10, 15),
    points_at_once=True,
    parallel_seats=4,
    parallel_owned=False,
    last_cars=2,
    last_turns="all",
    longest_bonus=10,
    most_tickets_bonus=0,
    tunnel_cards=0,
    station_costs=(),
    station_points=0,
    passengers=0,
    merchandise={},
    plus_four_least=1,
    play_off=0,
    clock_ms=None,
    move_ms=259_200_000,  # three days, so that every started game ends even if players stay away (P10)
    strict=False,
    refusals_kept=20,
)

USA: Final = Ruleset(
    name="usa",
    version=1,
    default_board="usa",
    rule_options=RULE_OPTIONS,
    randomness=SHARED_RANDOMNESS,
    route_kinds=frozenset({"rail"}),
    bot_policies=frozenset({"random", "greedy", "planner", "searcher"}),
    moves={
        ACTION: (DRAW_BLIND, DRAW_MARKET, DRAW_TICKETS, CLAIM_ROUTE, PASS),
        SECOND_CARD: (DRAW_BLIND, DRAW_MARKET),
        TICKETS: (KEEP_TICKETS,),
    },
    setup=offer_to_all,
    rebuild_deck=shuffle_discards_under,
    return_untaken=return_nothing,
    after_start_choice=continue_after_all_choices,
    require_board=accept_board,
    require_enough_tickets=require_tickets_for_all,
    find_payable_routes=one_colour_payable,
    payment_checks=(require_one_colour,),
    measure_longest=longest_trail,
    tie_breaks=(most_tickets_made, holds_longest),
)

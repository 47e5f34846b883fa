"""Every decision of the pages where the rule texts are silent or differ, and the tests that show it.

A page has the decision under its title, with the rules that it belongs to and the reason."""

from __future__ import annotations

from typing import Final, NamedTuple


class Decision(NamedTuple):
    """A decision by its title on the pages, its rules, the rulesets that it is of, and the tests that show it."""

    title: str
    rules: str
    rulesets: tuple[str, ...]
    tests: tuple[str, ...]


MARKET: Final = ("usa", "europe", "marklin")
DECISIONS: Final = (
    Decision(
        "Who begins", "TURN-1", MARKET, ("test_decided_TURN_1_turns_go_as_seated_unless_an_order_is_set",)
    ),
    Decision("Who begins", "TURN-1", ("trains",), ("test_TURN_1_the_oldest_begins_and_turns_go_by_age",)),
    Decision(
        "The order of the set-up",
        "SETUP-1",
        MARKET,
        ("test_SETUP_1_every_hand_is_four_cards_of_the_shuffled_deck_and_the_market_comes_after",),
    ),
    Decision(
        "The first market",
        "SETUP-1, MARKET-2",
        MARKET,
        (
            "test_SETUP_1_a_first_market_of_too_many_locomotives_is_flushed",
            "test_MARKET_2_as_many_again_are_swept_again",
        ),
    ),
    Decision(
        "A market with gaps",
        "MARKET-2",
        MARKET,
        ("test_decided_MARKET_2_a_market_with_gaps_that_holds_the_count_is_swept",),
    ),
    Decision(
        "The market of a position",
        "MARKET-2",
        MARKET,
        (
            "test_decided_MARKET_2_a_market_that_was_set_up_with_three_is_swept_at_the_next_fill",
            "test_MARKET_2_three_locomotives_of_a_position_lie_there_until_the_next_gap_is_filled",
        ),
    ),
    Decision(
        "Sweeps without end",
        "MARKET-2",
        MARKET,
        ("test_decided_MARKET_2_a_flush_that_loops_stops_after_five_reshuffles",),
    ),
    Decision(
        "When the discards become the deck",
        "CARD-4",
        MARKET,
        ("test_CARD_4_the_discards_become_the_deck_when_it_has_run_out_and_no_sooner",),
    ),
    Decision(
        "One card of two",
        "CARD-1",
        MARKET,
        ("test_TURN_3_with_one_card_drawn_only_a_second_card_will_do",),
    ),
    Decision(
        "Colours of pieces",
        "ROUTE-4",
        MARKET,
        ("test_decided_ROUTE_4_a_piece_on_the_board_is_its_seats_number",),
    ),
    Decision(
        'The word "route"',
        "ROUTE-1",
        ("europe",),
        ("test_decided_ROUTE_1_only_neighbours_have_a_route_to_claim",),
    ),
    Decision(
        "A passenger and countries",
        "PASSENGER-2",
        ("marklin",),
        ("test_PASSENGER_2_a_country_is_not_entered", "test_PASSENGER_1_none_in_a_country"),
    ),
    Decision(
        "The number of players",
        "SETUP-1",
        ("trains",),
        (
            "test_decided_SETUP_1_in_trains_the_players_follow_from_the_view",
            "test_the_arguments_have_the_forms_of_the_protocol",
        ),
    ),
    Decision(
        "Deck and discards are empty, the market is not",
        "CARD-4",
        MARKET,
        ("test_CARD_4_with_deck_and_discards_empty_only_the_market_can_be_drawn_from",),
    ),
    Decision(
        "Nothing that you could do",
        "TURN-4, END-3",
        MARKET,
        ("test_decided_TURN_4_END_3_with_nothing_legal_to_do_all_pass_and_the_game_ends",),
    ),
    Decision(
        "Nothing that you could do",
        "TURN-4, END-3",
        ("trains",),
        ("test_TURN_4_asking_is_always_legal_so_passing_never_is",),
    ),
    Decision(
        "Parallel routes of unequal length",
        "DOUBLE-1, DOUBLE-2",
        MARKET,
        ("test_decided_DOUBLE_1_DOUBLE_2_parallel_routes_of_unequal_length_are_double_routes",),
    ),
    Decision(
        "A route that the score table lacks",
        "ROUTE-6",
        MARKET,
        ("test_decided_ROUTE_6_a_game_with_a_route_that_the_table_has_no_points_for_is_not_created",),
    ),
    Decision(
        "A single route",
        "SCORE-3",
        ("usa", "europe"),
        ("test_decided_SCORE_3_a_single_route_counts_as_the_longest",),
    ),
    Decision(
        "A single connection",
        "SCORE-3",
        ("trains",),
        ("test_decided_SCORE_3_a_single_route_counts_as_the_longest",),
    ),
    Decision(
        "A seat that leaves after its request",
        "CONDUCT-2",
        ("trains",),
        ("test_CONDUCT_2_the_cards_of_a_seat_that_leaves_after_its_request_are_there_for_the_next",),
    ),
    Decision("Nobody has a route", "SCORE-3", ("usa", "europe"), ("test_SCORE_3_nobody_gets_it_at_zero",)),
    Decision("Nobody has a connection", "SCORE-3", ("trains",), ("test_SCORE_3_nobody_gets_it_at_zero",)),
    Decision(
        "Nobody made a ticket",
        "SCORE-4",
        ("marklin",),
        ("test_SCORE_4_a_seat_that_made_no_ticket_does_not_get_it",),
    ),
    Decision(
        "Time for a move",
        "CLOCK-1",
        (*MARKET, "trains"),
        (
            "test_CLOCK_1_a_move_has_three_days_that_only_a_new_turn_begins_anew",
            "test_CLOCK_1_a_move_has_three_days_and_so_has_the_choice_of_destinations",
        ),
    ),
    Decision(
        "Out of time while choosing starting tickets",
        "CLOCK-2",
        MARKET,
        (
            "test_decided_CLOCK_2_out_of_time_while_choosing_starting_tickets_and_the_game_goes_on",
            "test_CLOCK_2_open_tickets_are_kept_in_the_order_offered_up_to_the_least_number",
            "test_CLOCK_2_a_seat_out_of_time_before_naming_a_mix_gets_no_tickets_and_the_game_goes_on",
        ),
    ),
    Decision(
        "Out of time while choosing destinations",
        "CLOCK-2",
        ("trains",),
        ("test_CLOCK_2_where_a_game_is_not_strict_the_first_two_destinations_are_kept_and_it_still_scores",),
    ),
    Decision(
        "A removed seat",
        "CONDUCT-2",
        (*MARKET, "trains"),
        (
            "test_CONDUCT_2_a_removed_seat_has_nothing_left_scores_0_and_comes_last",
            "test_decided_CONDUCT_2_a_removed_seat_has_no_points_for_stations_that_it_did_not_build",
            "test_CONDUCT_2_the_passengers_of_a_removed_seat_leave_and_its_tokens_count_nothing",
            "test_CONDUCT_2_a_removed_seat_scores_0_with_destinations_made_missed_and_the_longest_path",
        ),
    ),
    Decision(
        "Tickets of 5 and of 13 points",
        "SETUP-2",
        ("europe",),
        ("test_decided_SETUP_2_europe_keeps_its_printed_tickets_of_5_and_13_points",),
    ),
    Decision(
        "Two minutes for the whole game",
        "CLOCK-1",
        ("europe",),
        (
            "test_CLOCK_1_people_have_no_clock_for_the_whole_game_unless_it_is_asked_for",
            "test_CLOCK_1_the_defaults_that_the_rulesets_list_are_those_of_their_tables",
            "test_CLOCK_1_a_player_without_a_game_makes_a_table_with_their_clock",
        ),
    ),
    Decision(
        "The clock on other boards",
        "CLOCK-1",
        ("europe",),
        ("test_decided_CLOCK_1_europe_on_other_boards_has_no_clock_unless_it_is_set",),
    ),
    Decision(
        "The mix that a seat names",
        "SETUP-2",
        ("marklin",),
        ("test_SETUP_3_what_a_seat_named_is_hidden_from_the_others_until_the_tickets_are_dealt",),
    ),
    Decision(
        '"+4" locomotives and sweeps',
        "MARKET-2",
        ("marklin",),
        ("test_MARKET_2_a_plus_four_is_no_locomotive_and_kinds_do_not_add_up",),
    ),
    Decision(
        "How far a passenger goes",
        "PASSENGER-2",
        ("marklin",),
        ("test_PASSENGER_2_it_may_stop_before_the_best_end",),
    ),
    Decision(
        "One city twice on a journey",
        "PASSENGER-3",
        ("marklin",),
        ("test_PASSENGER_3_a_city_passed_twice_gives_one_token_and_the_start_none_even_then",),
    ),
    Decision(
        "The example with the sum 14",
        "PASSENGER-3",
        ("marklin",),
        ("test_PASSENGER_3_five_cities_whose_tops_are_2_3_3_3_and_3_score_14_and_the_start_gives_nothing",),
    ),
    Decision(
        "Tickets between two countries",
        "SCORE-2",
        ("marklin",),
        ("test_SCORE_2_a_ticket_joins_two_countries",),
    ),
    Decision(
        "250 cards and four colours",
        "SETUP-1",
        ("trains",),
        ("test_SETUP_1_each_seat_gets_four_cards_of_250_in_four_colours_and_there_is_no_market",),
    ),
    Decision(
        "One last card",
        "CARD-6",
        ("trains",),
        ("test_CARD_6_one_last_card_goes_to_nobody_however_often_it_is_asked_for",),
    ),
    Decision(
        "The numbers of cards and rails",
        "MARKET-1",
        ("trains",),
        ("test_decided_MARKET_1_in_trains_all_see_how_many_cards_and_rails_a_seat_has",),
    ),
    Decision(
        "Two connections between two cities",
        "ROUTE-1",
        ("trains",),
        (
            "test_DOUBLE_connections_of_two_colours_are_independent_and_one_seat_may_hold_both",
            "test_ROUTE_1_connections_of_other_colours_between_two_cities_stay_free_with_two_seats_too",
        ),
    ),
)

/* Rollouts of train games at machine speed: the Python form (compact_game, rollout_plan, rollout_needs,
 * rollout_actions, rollout_policy) said again in C, function by function and under the same names.
 *
 * Both forms must come to equal points, so every sum of floating-point numbers is in the order of the Python form's, and
 * the compiler may not fuse them (-ffp-contract=off). What is larger than the arrays here, or too long to search, this form
 * declines: `prepare` and `play` return None, and the Python form plays. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_ROUTES = 256, MOST_CITIES = 128, MOST_NAMES = 512, MOST_KINDS = 11, MOST_SEATS = 8, MOST_HELD = 64,
    MOST_TICKETS = 64, MOST_DECKS = 8, MOST_IN_DECK = 128, MARKET = 10, MOST_PARALLELS = 8, MOST_COSTS = 8,
    MOST_OPEN_WALKS = 256, MOST_STEPS = 20000, MOST_WALKS = 60, MAX_TURNS = 1000, MOST_TOKENS = 8, MOST_FILLERS = 6,
    MOST_NEEDS = MOST_ROUTES + MOST_FILLERS, MOST_LENGTH = 30, MOST_AHEAD = 512, MOST_CARS = 1000,
    ROUTE_WORDS = MOST_ROUTES / 64, CITY_WORDS = MOST_CITIES / 64,
};
enum { UNREACHABLE = 1000000, COST_UNITS = 1000, FULL_STAKE = 40, SETTLED = INT32_MIN }; /* of a path, in units of a point */
enum { FULL_SHARE = 256, FILLER_UNITS = 256, MOST_VALUE = 127 };
enum { WILD = 8, WILD_IF_LONG = 9, TOLL = 10, ANY_COLOUR = 8, NO_CARD = -1, NOWHERE = -1, FREE = -1, CLOSED = -2, NOT_YET = -1 };
enum { NO_MOVE, KEEP, CLAIM, PAY_TUNNEL, STATION, PASSENGER, TICKETS, BLIND, OPEN_CARD, REQUEST, IDLE }; /* first moves */
#define ALWAYS_INLINE inline __attribute__((always_inline))
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__)
#define VECTORS __attribute__((optimize("O3"), target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) /* as wide as the processor's */
#else
#define VECTORS
#endif

/* The planner's numbers, in the order in which compiled_rollouts.py hands them over. */
typedef struct {
    double car_price, card_credit, least_cost, loan_price, haste, turns_early, route_risk, borrowed_risk, turns_counted,
        cars_a_turn, claim_threshold, wild_price, cards_short, reserved_price, filler_weight, filler_price, filler_pace,
        cars_to_end, end_share, touch_bonus, trail_share, trail_growth, trail_spread, filler_margin,
        journey_points, placed, per_token, plus_four_share, ticket_points, turns_to_spare, locomotive_price, spare_credit,
        idle_value, idle_growth, gray_value, ferry_value, plus_four_value, passenger_value, tight_first,
        tight_second;
} Weights;

typedef struct { uint64_t of[ROUTE_WORDS]; } Routes; /* a set of them, a bit each */

typedef struct {
    int routes, cities, kinds, seats;
    int a[MOST_ROUTES], b[MOST_ROUTES], lengths[MOST_ROUTES], points[MOST_ROUTES], colours[MOST_ROUTES];
    int ferries[MOST_ROUTES], spaces[MOST_ROUTES], is_tunnel[MOST_ROUTES];
    int parallels[MOST_ROUTES][MOST_PARALLELS], parallel_count[MOST_ROUTES];
    int name_a[MOST_ROUTES], name_b[MOST_ROUTES]; /* the ends that the longest route is measured between */
    double claim_costs[MOST_ROUTES], card_shares[MOST_KINDS], car_value;
    int words; /* of a set of routes that are in use */
    int shares[MOST_LENGTH + 1]; /* of what a filler brings, by how many cards it misses */
    int filler_values[2][MOST_ROUTES]; /* without bonus; the second of one that touches the network */
    double chances[2 * MOST_AHEAD + 1]; /* of the longest route, by how many spaces a plan is ahead */
    int slots[MOST_ROUTES], slot_routes[MOST_ROUTES], slot_lengths[MOST_ROUTES], slot_starts[ANY_COLOUR + 2]; /* of fillers, by colour */
    Routes parallel_sets[MOST_ROUTES], exit_sets[MOST_CITIES];
    /* the first route of those between the same cities, and the one after it; -1: none */
    int16_t between[MOST_CITIES][MOST_CITIES], first_between[MOST_ROUTES], next_between[MOST_ROUTES];
    int16_t twins[MOST_ROUTES]; /* the only other route between the same cities; itself if none is, -1 if more are */
    double half_over[MOST_LENGTH + 2], tenth_points[MOST_ROUTES]; /* half_over: 1 + 0.5 / missing; 0 where none is */
    int16_t turns[MOST_CARS + 1]; /* by cars */
    int is_country[MOST_CITIES], has_countries, has_ferries;
    int cards_asked, flushes, flush_kinds[MOST_KINDS], flush_counts[MOST_KINDS], flush_most;
    int tunnel_cards, wild_if_long_least, closes_parallels;
    int playing, order[MOST_SEATS], next_seat[MOST_SEATS], last_cars, last_turns;
    int decks, tickets_drawn[MOST_DECKS], tickets_named, least_kept;
    int stations, station_costs[MOST_COSTS], station_points;
    int scoring_count, scoring[MOST_SEATS], longest_bonus, is_path, most_tickets_bonus;
    Weights w;
} Rules;

typedef struct { int16_t a, b, points, deck; } Ticket;
typedef struct { int kind, count; } Paid;
typedef struct { int size; Paid of[4 + MOST_KINDS]; } Payment;

typedef struct {
    int size, loan_count, is_made;
    unsigned version;
    Routes set;
    int16_t routes[MOST_ROUTES], loans[MOST_ROUTES];
    double weights[MOST_ROUTES];
} Plan;

typedef struct {
    int count, longest;
    int16_t cities[MOST_CITIES]; /* of the network */
    int16_t spaces[MOST_CITIES], part[MOST_CITIES]; /* part -1: none */
} Spans;

/* The ways out of each city, in the order in which their routes came. */
typedef struct {
    int16_t first[MOST_CITIES], last[MOST_CITIES], next[2 * MOST_ROUTES], other[2 * MOST_ROUTES];
    int16_t length[2 * MOST_ROUTES];
} Ways;

/* The longest path from each city of a seat's network, while that has no cycle. */
typedef struct {
    int is_made, held, longest, has_cycle;
    int16_t spaces[MOST_CITIES];
    Ways ways;
} Forest;

/* The routes outside of a plan that the seat can claim, with what each brings. */
typedef struct {
    int is_made, is_last, claimed, held_routes; /* held_routes: how many */
    unsigned version;
    int values[MOST_ROUTES], keys[MOST_ROUTES], held[ANY_COLOUR + 1]; /* by slot; held: of each colour, for the keys */
    Routes others, touching; /* touching: the network with one end */
    int bonuses[MOST_ROUTES]; /* in units */
    Routes with_bonus;
    int has_spans, rival_longest, is_last_bonus; /* that the bonuses are for */
    Routes spanned;
    Spans spans;
} Fillers;

typedef struct { int spare[WILD + 1], reserved[WILD + 1]; } Shares; /* of a hand, by colour; nothing of ANY_COLOUR */

typedef struct {
    int size, planned;
    int routes[MOST_NEEDS], colours[MOST_NEEDS], missing[MOST_NEEDS], grays[MOST_NEEDS + 1], gray_count;
    Shares hand;
    double weights[MOST_NEEDS], wilds_short;
    const int *bonuses;
} Needs;

typedef struct { int route, colour, wilds, wilds_if_long; } Claim;

/* What paths are searched by: by two cities the least cost of a route between them, with the second city, so that cities are
 * compared by both, many at once. The last row is of a country, through which no path goes. */
typedef struct {
    int size, of_routes[MOST_ROUTES]; /* size: of a row; 0: none is set yet */
    int between[MOST_CITIES + 1][MOST_CITIES];
} Costs;

typedef struct {
    const Rules *rules;
    uint64_t seed;
    int turn, last_turns, passes, is_over, is_declined; /* is_declined: the Python form must play this one */
    int cars[MOST_SEATS], points[MOST_SEATS];
    int hands[MOST_SEATS][MOST_KINDS], deck[MOST_KINDS], discards[MOST_KINDS], deck_size, discard_size;
    int drawn[MARKET + 2 * MOST_SEATS], market[MARKET], slots;
    int8_t owners[MOST_ROUTES];
    int held[MOST_SEATS], claimed;
    Routes free, parallels_of[MOST_SEATS]; /* of each seat's routes */
    uint64_t touched[MOST_SEATS][CITY_WORDS]; /* cities with a route of the seat */
    int16_t held_routes[MOST_SEATS][MOST_HELD];
    int ticket_count[MOST_SEATS];
    Ticket tickets[MOST_SEATS][MOST_TICKETS];
    int revealed[16], revealed_count;
    int deck_tickets[MOST_DECKS];
    Ticket ticket_decks[MOST_DECKS][MOST_IN_DECK]; /* the top is the last */
    int station_count[MOST_SEATS], station_city[MOST_SEATS][MOST_COSTS], station_neighbour[MOST_SEATS][MOST_COSTS];
    int passengers_left[MOST_SEATS], travellers, traveller_city[MOST_CITIES], traveller_owner[MOST_CITIES];
    int token_count[MOST_CITIES], token_cities, token_order[MOST_CITIES];
    int tokens[MOST_CITIES][MOST_TOKENS]; /* the top first; count -1: never had any */
    Plan plans[MOST_SEATS];
    Fillers fillers[MOST_SEATS];
    Forest forests[MOST_SEATS];
    unsigned version;
    Costs costs;
} Game;

static inline int least(int a, int b) { return a < b ? a : b; }
static inline int greatest(int a, int b) { return a > b ? a : b; }
static inline double least_of(double a, double b) { return b < a ? b : a; }       /* Python's min and max */
static inline double greatest_of(double a, double b) { return b > a ? b : a; }
static inline void add_to(uint64_t *set, int number) { set[number >> 6] |= UINT64_C(1) << (number & 63); }
static inline void remove_from(uint64_t *set, int number) { set[number >> 6] &= ~(UINT64_C(1) << (number & 63)); }
static inline int is_in(const uint64_t *set, int number) { return set[number >> 6] >> (number & 63) & 1; }
static inline int next_of(uint64_t *word) { /* takes the lowest out */
    int bit = __builtin_ctzll(*word);
    *word &= *word - 1;
    return bit;
}

/* -- cards (compact_game) ------------------------------------------------------------------ */

static double random_number(uint64_t seed, int drawer, int index) {
    uint64_t number = seed + (((uint64_t)drawer << 32) | (uint64_t)index) * UINT64_C(0x9E3779B97F4A7C15);
    number = (number ^ (number >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (double)((number ^ (number >> 31)) >> 11) / 9007199254740992.0;
}

static int take_card(Game *g, int drawer) {
    if (g->deck_size <= 0) {
        g->is_declined = 1;
        return 0;
    }
    int rest = (int)(random_number(g->seed, drawer, g->drawn[drawer]++) * g->deck_size), kind = 0;
    for (int each = 0, before = 0; each < g->rules->kinds - 1; each++) kind += rest >= (before += g->deck[each]);
    g->deck[kind]--;
    g->deck_size--;
    return kind;
}

static void discard(Game *g, int kind, int count) {
    g->discards[kind] += count;
    g->discard_size += count;
}

static void rebuild_deck(Game *g) {
    for (int kind = 0; kind < g->rules->kinds; kind++) {
        g->deck[kind] += g->discards[kind];
        g->discards[kind] = 0;
    }
    g->deck_size += g->discard_size;
    g->discard_size = 0;
}

static void draw_blind(Game *g) {
    if (!g->deck_size) rebuild_deck(g);
    g->hands[g->turn][take_card(g, MARKET + g->turn)]++;
    g->passes = 0;
}

static int fill_gaps(Game *g, int *is_turned_up) {
    int gaps = 0, rebuilt = 0, filled = 0;
    for (int slot = 0; slot < g->slots; slot++) gaps += g->market[slot] == NO_CARD;
    if (g->deck_size < gaps && g->discard_size) {
        rebuild_deck(g);
        rebuilt = 1;
    }
    int size = g->deck_size;
    for (int slot = 0; slot < g->slots && filled < size; slot++)
        if (g->market[slot] == NO_CARD) {
            g->market[slot] = take_card(g, slot);
            filled++;
        }
    *is_turned_up = filled > 0;
    return rebuilt;
}

static int is_flush_due(const Game *g) {
    const Rules *r = g->rules;
    for (int i = 0; i < r->flushes; i++) {
        int count = 0;
        for (int slot = 0; slot < g->slots; slot++) count += g->market[slot] == r->flush_kinds[i];
        if (count >= r->flush_counts[i]) return 1;
    }
    return 0;
}

static void fill_market(Game *g) {
    int is_turned_up, rebuilt = 0;
    fill_gaps(g, &is_turned_up);
    while (is_turned_up && rebuilt < g->rules->flush_most && is_flush_due(g)) {
        for (int slot = 0; slot < g->slots; slot++)
            if (g->market[slot] != NO_CARD) {
                discard(g, g->market[slot], 1);
                g->market[slot] = NO_CARD;
            }
        rebuilt += fill_gaps(g, &is_turned_up);
    }
}

static int draw_market(Game *g, int slot) {
    int card = g->market[slot];
    g->hands[g->turn][card]++;
    g->market[slot] = NO_CARD;
    g->passes = 0;
    fill_market(g);
    return card;
}

static inline int has_cards(const Game *g) { return g->deck_size > 0 || g->discard_size > 0; }

static int has_second_card(const Game *g) {
    if (has_cards(g)) return 1;
    for (int slot = 0; slot < g->slots; slot++)
        if (g->market[slot] != NO_CARD && g->market[slot] != WILD) return 1;
    return 0;
}

static void request_cards(Game *g) {
    int count = g->rules->cards_asked;
    if (g->deck_size < count) {
        g->passes++;
        return;
    }
    for (int i = 0; i < count; i++) g->hands[g->turn][take_card(g, MARKET + g->turn)]++;
    g->passes = 0;
}

/* -- routes, tickets, stations, passengers (compact_game) ------------------------------------ */

static inline int can_claim(const Game *g, int seat, int route) {
    return g->owners[route] == FREE && !is_in(g->parallels_of[seat].of, route);
}

static void pay(Game *g, const Payment *payment) {
    for (int i = 0; i < payment->size; i++) {
        g->hands[g->turn][payment->of[i].kind] -= payment->of[i].count;
        discard(g, payment->of[i].kind, payment->of[i].count);
    }
}

static void add_paid(Payment *payment, int kind, int count) {
    if (count) payment->of[payment->size++] = (Paid){kind, count};
}

static void note_claimed(Game *g, int seat, int route) {
    const Rules *r = g->rules;
    remove_from(g->free.of, route);
    for (int word = 0; word < r->words; word++) g->parallels_of[seat].of[word] |= r->parallel_sets[route].of[word];
    add_to(g->touched[seat], r->a[route]);
    add_to(g->touched[seat], r->b[route]);
}

static void claim_route(Game *g, int route, const Payment *payment, int passenger) {
    const Rules *r = g->rules;
    int seat = g->turn;
    if (g->held[seat] == MOST_HELD || g->travellers == MOST_CITIES) {
        g->is_declined = 1;
        return;
    }
    pay(g, payment);
    g->cars[seat] -= r->lengths[route];
    g->points[seat] += r->points[route];
    g->owners[route] = (int8_t)seat;
    g->held_routes[seat][g->held[seat]++] = (int16_t)route;
    g->claimed++;
    if (r->closes_parallels)
        for (int i = 0; i < r->parallel_count[route]; i++)
            if (g->owners[r->parallels[route][i]] == FREE) {
                g->owners[r->parallels[route][i]] = CLOSED;
                remove_from(g->free.of, r->parallels[route][i]);
            }
    note_claimed(g, seat, route);
    if (passenger != NOWHERE) {
        g->traveller_city[g->travellers] = passenger;
        g->traveller_owner[g->travellers++] = seat;
        g->passengers_left[seat]--;
    }
    g->passes = 0;
}

static int reveal_tunnel(Game *g, const Payment *payment) {
    int count = g->rules->tunnel_cards, asked = 0;
    if (g->deck_size < count && g->discard_size) rebuild_deck(g);
    int drawer = MARKET + g->rules->seats + g->turn;
    g->revealed_count = least(count, g->deck_size);
    for (int i = 0; i < g->revealed_count; i++) {
        int kind = g->revealed[i] = take_card(g, drawer), is_asked = kind == WILD;
        for (int j = 0; j < payment->size; j++) is_asked |= payment->of[j].kind == kind;
        asked += is_asked;
    }
    g->passes = 0;
    return asked;
}

static int draw_tickets(Game *g, const int *counts, Ticket *offer) {
    int size = 0;
    for (int deck = 0; deck < g->rules->decks; deck++) {
        for (int i = 0; i < counts[deck] && g->deck_tickets[deck] && size < MOST_TICKETS; i++)
            offer[size++] = g->ticket_decks[deck][--g->deck_tickets[deck]];
        if (counts[deck] > 0 && !g->rules->tickets_drawn[deck]) g->is_declined = 1; /* this form has no such deck */
    }
    g->passes = 0;
    return size;
}

static void keep_tickets(Game *g, const Ticket *offer, int size, const int *kept, int kept_count) {
    char is_kept[MOST_TICKETS] = {0};
    if (g->ticket_count[g->turn] + kept_count > MOST_TICKETS) {
        g->is_declined = 1;
        return;
    }
    for (int i = 0; i < kept_count; i++) {
        g->tickets[g->turn][g->ticket_count[g->turn]++] = offer[kept[i]];
        is_kept[kept[i]] = 1;
    }
    for (int i = 0; i < size; i++) {
        int deck = offer[i].deck;
        if (is_kept[i] || !(g->rules->tickets_drawn[deck])) continue; /* nothing is drawn of such a deck */
        if (g->deck_tickets[deck] == MOST_IN_DECK) {
            g->is_declined = 1;
            return;
        }
        memmove(g->ticket_decks[deck] + 1, g->ticket_decks[deck], sizeof(Ticket) * (size_t)g->deck_tickets[deck]++);
        g->ticket_decks[deck][0] = offer[i];
    }
}

static void build_station_at(Game *g, int city, const Payment *payment, int neighbour) {
    int number = g->station_count[g->turn];
    if (number == MOST_COSTS) {
        g->is_declined = 1;
        return;
    }
    pay(g, payment);
    g->station_city[g->turn][number] = city;
    g->station_neighbour[g->turn][number] = neighbour;
    g->station_count[g->turn]++;
    g->passes = 0;
}

static void move_passenger(Game *g, int start, const int *path, int size) {
    const Rules *r = g->rules;
    int seat = g->turn, tolls = 0, city = start, entered[MOST_ROUTES], count = 0;
    char is_entered[MOST_CITIES] = {0};
    for (int i = 0; i < size; i++) {
        int route = path[i];
        city = r->a[route] == city ? r->b[route] : r->a[route];
        if (!is_entered[city]) {
            is_entered[city] = 1;
            entered[count++] = city;
        }
        tolls += g->owners[route] != seat;
    }
    if (tolls) {
        Payment payment = {0};
        add_paid(&payment, TOLL, tolls);
        pay(g, &payment);
    }
    for (int i = 0, j = 0; i < g->travellers; i++)
        if (g->traveller_city[i] != start) {
            g->traveller_city[j] = g->traveller_city[i];
            g->traveller_owner[j++] = g->traveller_owner[i];
        }
    g->travellers--;
    for (int i = 0; i < count; i++)
        if (entered[i] != start && g->token_count[entered[i]] > 0) {
            int *stack = g->tokens[entered[i]], left = --g->token_count[entered[i]];
            g->points[seat] += stack[0];
            memmove(stack, stack + 1, sizeof(int) * (size_t)left);
        }
    g->passes = 0;
}

static void end_turn(Game *g) {
    const Rules *r = g->rules;
    if (g->passes >= r->playing) {
        g->is_over = 1;
        return;
    }
    for (int i = 0; i < g->revealed_count; i++) discard(g, g->revealed[i], 1);
    g->revealed_count = 0;
    for (int slot = 0; slot < g->slots; slot++)
        if (g->market[slot] == NO_CARD) {
            fill_market(g);
            break;
        }
    if (g->last_turns == NOT_YET && g->cars[g->turn] <= r->last_cars) g->last_turns = r->last_turns;
    if (g->last_turns == 0) {
        g->is_over = 1;
        return;
    }
    if (g->last_turns > 0) g->last_turns--;
    g->turn = r->next_seat[g->turn];
}

/* -- which cities are joined (compact_game, longest_trail, station_loans) -------------------- */

static inline int root_of(const int16_t *parents, int city) {
    while (parents[city] != city) city = parents[city];
    return city;
}

static inline void join(int16_t *parents, int a, int b) {
    a = root_of(parents, a);
    b = root_of(parents, b);
    if (a != b) parents[a] = (int16_t)b;
}

static void start_networks(const Game *g, int seat, int16_t *parents) {
    const Rules *r = g->rules;
    for (int city = 0; city < r->cities; city++) parents[city] = (int16_t)city;
    for (int i = 0; i < g->held[seat]; i++) {
        int route = g->held_routes[seat][i];
        if (!(r->is_country[r->a[route]] || r->is_country[r->b[route]])) join(parents, r->a[route], r->b[route]);
    }
}

/* Whether a path joins two places, one of them a country with a route of the seat: no path goes through a country. */
static int reaches(const Game *g, int seat, const int16_t *parents, const char *touched, int a, int b) {
    const Rules *r = g->rules;
    char of_a[MOST_CITIES] = {0}, of_b[MOST_CITIES] = {0};
    if (a == b) return 1;
    for (int i = 0; i < g->held[seat]; i++) {
        int route = g->held_routes[seat][i], one = r->a[route], other = r->b[route];
        for (int side = 0; side < 2; side++) {
            if (touched[one]) {
                if (one == a && other == b) return 1;
                if (!touched[other] && one == a) of_a[root_of(parents, other)] = 1;
                if (!touched[other] && one == b) of_b[root_of(parents, other)] = 1;
            }
            int swapped = one;
            one = other;
            other = swapped;
        }
    }
    if (!touched[a]) of_a[root_of(parents, a)] = 1;
    if (!touched[b]) of_b[root_of(parents, b)] = 1;
    for (int city = 0; city < r->cities; city++)
        if (of_a[city] && of_b[city]) return 1;
    return 0;
}

static void tickets_made(const Game *g, int seat, char *made) {
    const Rules *r = g->rules;
    int16_t parents[MOST_CITIES];
    char touched[MOST_CITIES] = {0}; /* countries with a route of the seat */
    start_networks(g, seat, parents);
    if (r->has_countries)
        for (int i = 0; i < g->held[seat]; i++) {
            int route = g->held_routes[seat][i];
            touched[r->a[route]] |= (char)r->is_country[r->a[route]];
            touched[r->b[route]] |= (char)r->is_country[r->b[route]];
        }
    for (int i = 0; i < g->ticket_count[seat]; i++) {
        int a = g->tickets[seat][i].a, b = g->tickets[seat][i].b;
        made[i] = (char)(touched[a] || touched[b] ? reaches(g, seat, parents, touched, a, b)
                                                  : root_of(parents, a) == root_of(parents, b));
    }
}

typedef struct {
    const Game *game;
    int seat, count, best_points, best_none, steps;
    int a[MOST_COSTS][MOST_ROUTES], b[MOST_COSTS][MOST_ROUTES], loans[MOST_COSTS];
    char *made;
} Loans;

static void search_loans(Loans *search, int number, const int16_t *parents, int none) {
    const Game *g = search->game;
    size_t size = sizeof(int16_t) * (size_t)g->rules->cities;
    if (number == search->count) {
        int points = 0;
        char made[MOST_TICKETS];
        for (int i = 0; i < g->ticket_count[search->seat]; i++) {
            const Ticket *ticket = &g->tickets[search->seat][i];
            made[i] = root_of(parents, ticket->a) == root_of(parents, ticket->b);
            points += made[i] ? ticket->points : 0;
        }
        if (points > search->best_points || (points == search->best_points && none > search->best_none)) {
            search->best_points = points;
            search->best_none = none;
            memcpy(search->made, made, (size_t)g->ticket_count[search->seat]);
        }
        return;
    }
    for (int i = 0; i < search->loans[number]; i++) {
        int16_t joined[MOST_CITIES];
        int a = root_of(parents, search->a[number][i]), b = root_of(parents, search->b[number][i]);
        if (a == b || search->steps++ > MOST_STEPS) continue; /* it brings no more than no loan */
        memcpy(joined, parents, size);
        joined[a] = (int16_t)b;
        search_loans(search, number + 1, joined, none);
    }
    search_loans(search, number + 1, parents, none + 1);
}

static void tickets_at_end(Game *g, int seat, char *made) {
    const Rules *r = g->rules;
    int16_t parents[MOST_CITIES];
    if (!g->station_count[seat]) {
        tickets_made(g, seat, made);
        return;
    }
    if (r->has_countries) {
        g->is_declined = 1;
        return;
    }
    Loans search = {.game = g, .seat = seat, .count = g->station_count[seat], .best_points = -1, .made = made};
    start_networks(g, seat, parents);
    for (int number = 0; number < search.count; number++) {
        int city = g->station_city[seat][number], neighbour = g->station_neighbour[seat][number];
        for (int other = 0; other < r->seats; other++)
            for (int i = 0; other != seat && i < g->held[other]; i++) {
                int route = g->held_routes[other][i], a = r->a[route], b = r->b[route];
                if ((city == a || city == b) && (neighbour == NOWHERE || neighbour == a || neighbour == b)) {
                    int one = root_of(parents, a), two = root_of(parents, b), is_new = one != two;
                    for (int j = 0; j < search.loans[number]; j++)
                        is_new &= !((search.a[number][j] == one && search.b[number][j] == two)
                                    || (search.a[number][j] == two && search.b[number][j] == one));
                    if (is_new) {
                        search.a[number][search.loans[number]] = one;
                        search.b[number][search.loans[number]++] = two;
                    }
                }
            }
    }
    search_loans(&search, 0, parents, 0);
    if (search.steps > MOST_STEPS) g->is_declined = 1;
}

/* -- the longest route (longest_trail, longest_path) ----------------------------------------- */

typedef struct { int8_t edge, other; } Way;

typedef struct {
    int cities, best, steps, is_path;
    Way ways[MOST_HELD + 1][MOST_HELD];
    int degree[2 * MOST_HELD], lengths[MOST_HELD];
    uint64_t used, seen[2];
} Longest;

/* Walks on from a city; `left`: the spaces of all edges that aren't used. */
static void walk(Longest *l, int city, int spaces, int left) {
    if (spaces > l->best) l->best = spaces;
    if (spaces + left <= l->best || ++l->steps > MOST_STEPS) return;
    for (int i = 0; i < l->degree[city]; i++) {
        Way way = l->ways[city][i];
        int other = way.other;
        if (l->is_path ? l->seen[other >> 6] >> (other & 63) & 1 : l->used >> way.edge & 1) continue;
        if (l->is_path) l->seen[other >> 6] |= UINT64_C(1) << (other & 63);
        else l->used |= UINT64_C(1) << way.edge;
        walk(l, other, spaces + l->lengths[way.edge], left - l->lengths[way.edge]);
        if (l->is_path) l->seen[other >> 6] &= ~(UINT64_C(1) << (other & 63));
        else l->used &= ~(UINT64_C(1) << way.edge);
    }
}

static int measure_longest(Game *g, int seat) {
    const Rules *r = g->rules;
    int16_t number[MOST_NAMES];
    Longest l;
    int total = 0, parts[MOST_HELD + 1], parents[MOST_HELD + 1], odd[MOST_HELD + 1], spaces[MOST_HELD + 1];
    l.cities = l.best = l.steps = 0;
    l.is_path = r->is_path;
    l.used = l.seen[0] = l.seen[1] = 0;
    memset(number, -1, sizeof number);
    for (int i = 0; i < g->held[seat]; i++) {
        int route = g->held_routes[seat][i], ends[2] = {r->name_a[route], r->name_b[route]};
        if (ends[0] == ends[1]) continue;
        for (int side = 0; side < 2; side++)
            if (number[ends[side]] < 0) {
                if (l.cities > MOST_HELD) {
                    g->is_declined = 1;
                    return 0;
                }
                parents[l.cities] = l.cities;
                l.degree[l.cities] = 0;
                number[ends[side]] = (int16_t)l.cities++;
            }
        int a = number[ends[0]], b = number[ends[1]];
        l.lengths[i] = r->lengths[route];
        total += r->lengths[route];
        l.ways[a][l.degree[a]++] = (Way){(int8_t)i, (int8_t)b};
        l.ways[b][l.degree[b]++] = (Way){(int8_t)i, (int8_t)a};
        while (parents[a] != a) a = parents[a];
        while (parents[b] != b) b = parents[b];
        parents[a] = b;
    }
    for (int city = 0; city < l.cities; city++) {
        parts[city] = city;
        while (parents[parts[city]] != parts[city]) parts[city] = parents[parts[city]];
        odd[city] = spaces[city] = 0;
    }
    for (int city = 0; city < l.cities; city++) {
        odd[parts[city]] += l.degree[city] & 1;
        for (int i = 0; i < l.degree[city]; i++) spaces[parts[city]] += l.lengths[l.ways[city][i].edge];
    }
    for (int city = 0; city < l.cities; city++) { /* a longest trail is open and ends in two odd cities, or takes in all */
        int part = parts[city], of_part = spaces[part] / 2;
        if (of_part <= l.best) continue;
        if (!l.is_path && odd[part] <= 2) {
            l.best = of_part;
        } else if (l.is_path || l.degree[city] & 1) {
            l.seen[0] = l.seen[1] = 0;
            l.seen[city >> 6] |= UINT64_C(1) << (city & 63);
            walk(&l, city, 0, of_part);
        }
    }
    if (l.steps > MOST_STEPS) g->is_declined = 1;
    return l.best;
}

static void add_bonus(const Rules *r, int *totals, int bonus, const int *counts) {
    int most = 0;
    for (int seat = 0; seat < r->seats; seat++) most = greatest(most, counts[seat]);
    for (int seat = 0; seat < r->seats; seat++)
        if (counts[seat] == most && most > 0) totals[seat] += bonus;
}

static void final_points(Game *g, int *totals) {
    const Rules *r = g->rules;
    int made_count[MOST_SEATS] = {0}, longest[MOST_SEATS] = {0};
    memcpy(totals, g->points, sizeof(int) * (size_t)r->seats);
    for (int i = 0; i < r->scoring_count; i++) {
        int seat = r->scoring[i];
        char made[MOST_TICKETS] = {0};
        tickets_at_end(g, seat, made);
        for (int j = 0; j < g->ticket_count[seat]; j++) {
            made_count[seat] += made[j];
            totals[seat] += made[j] ? g->tickets[seat][j].points : -g->tickets[seat][j].points;
        }
        totals[seat] += r->station_points * (r->stations - g->station_count[seat]);
        if (r->longest_bonus) longest[seat] = measure_longest(g, seat);
    }
    add_bonus(r, totals, r->most_tickets_bonus, made_count);
    add_bonus(r, totals, r->longest_bonus, longest);
}

/* -- the plan (board_graph, rollout_plan) ----------------------------------------------------- */

/* Set the cost of a route for `shortest_path`. */
static void set_cost(Game *g, int route, int cost) {
    const Rules *r = g->rules;
    Costs *costs = &g->costs;
    int a = r->a[route], b = r->b[route];
    costs->of_routes[route] = cost;
    if (a == b) return;
    if (r->twins[route] >= 0) cost = least(cost, costs->of_routes[r->twins[route]]);
    else for (int each = r->first_between[route]; each >= 0; each = r->next_between[each])
        cost = least(cost, costs->of_routes[each]);
    costs->between[a][b] = cost * MOST_CITIES + b;
    costs->between[b][a] = cost * MOST_CITIES + a;
}

/* Set the costs of all routes. */
static void set_costs(Game *g, const int *of_routes) {
    const Rules *r = g->rules;
    Costs *costs = &g->costs;
    if (!costs->size) {
        costs->size = (r->cities + 15) / 16 * 16;
        for (int other = 0; other < costs->size; other++) costs->between[MOST_CITIES][other] = UNREACHABLE * MOST_CITIES + other;
        for (int city = 0; city < r->cities; city++)
            memcpy(costs->between[city], costs->between[MOST_CITIES], sizeof(int) * (size_t)costs->size);
    }
    memcpy(costs->of_routes, of_routes, sizeof(int) * (size_t)r->routes);
    for (int route = 0; route < r->routes; route++)
        if (r->first_between[route] == route) set_cost(g, route, of_routes[route]);
}

/* Where a search begins: the least cost to each city that isn't settled yet, with the city; below 0 of the others. */
static ALWAYS_INLINE void start_search(const Game *g, int start, int *least_costs, int size) {
    for (int city = 0; city < size; city++)
        least_costs[city] = city < g->rules->cities ? UNREACHABLE * MOST_CITIES + city : SETTLED;
    least_costs[start] = start;
}

/* Settle the nearest city and go on from there; returns the nearest one after it. Cities are compared many at once. */
static ALWAYS_INLINE int settle(const Game *g, int nearest, int start, int *restrict least_costs, int *restrict from, int size) {
    int city = nearest % MOST_CITIES, cost = nearest - city;
    const int *onward = g->costs.between[g->rules->is_country[city] && city != start ? MOST_CITIES : city];
    unsigned next = INT32_MAX;
    least_costs[city] = SETTLED;
    for (int other = 0; other < size; other++) {
        int total = cost + onward[other], before = least_costs[other], now = total < before ? total : before;
        least_costs[other] = now;
        from[other] = total < before ? city : from[other];
        next = (unsigned)now < next ? (unsigned)now : next;
    }
    return (int)next;
}

/* The least cost of a path, with its routes from the end on; of equally near cities the lowest is settled first. */
static ALWAYS_INLINE int path_of(const Game *g, int start, int end, int16_t *routes, int *size, int row) {
    const Rules *r = g->rules;
    int least_costs[MOST_CITIES], from[MOST_CITIES], nearest = start;
    start_search(g, start, least_costs, row);
    while (nearest % MOST_CITIES != end && nearest < UNREACHABLE * MOST_CITIES)
        nearest = settle(g, nearest, start, least_costs, from, row);
    *size = 0;
    if (nearest >= UNREACHABLE * MOST_CITIES) return UNREACHABLE;
    for (int city = end; city != start; city = from[city]) {
        int route = r->between[from[city]][city];
        for (int each = route; each >= 0; each = r->next_between[each])
            if (g->costs.of_routes[each] < g->costs.of_routes[route]) route = each;
        routes[(*size)++] = (int16_t)route;
    }
    return nearest / MOST_CITIES;
}

VECTORS static int shortest_path(const Game *g, int start, int end, int16_t *routes, int *size) {
    switch (g->costs.size) {
    case 32: return path_of(g, start, end, routes, size, 32);
    case 48: return path_of(g, start, end, routes, size, 48);
    default: return path_of(g, start, end, routes, size, g->costs.size / 16 * 16);
    }
}

static int turns_left(const Game *g, int seat) {
    const Rules *r = g->rules;
    int fewest = 100, found = 0;
    if (g->last_turns != NOT_YET) return 1;
    for (int i = 0; i < r->playing; i++)
        if (r->order[i] != seat && (!found++ || g->cars[r->order[i]] < fewest)) fewest = g->cars[r->order[i]];
    return r->turns[greatest(0, fewest - r->last_cars)];
}

static int in_units(double points) { return (int)(points * COST_UNITS); }

static void station_cities(const Game *g, char *taken) {
    memset(taken, 0, MOST_CITIES);
    for (int seat = 0; seat < g->rules->seats; seat++)
        for (int i = 0; i < g->station_count[seat]; i++) taken[g->station_city[seat][i]] = 1;
}

static void own_stations(const Game *g, int seat, char *own) {
    memset(own, 0, MOST_CITIES);
    for (int i = 0; i < g->station_count[seat]; i++) own[g->station_city[seat][i]] = 1;
}

static void price_loans(const Game *g, int seat, int *costs) {
    const Rules *r = g->rules;
    int price = in_units(r->w.loan_price + r->station_points);
    char own[MOST_CITIES], taken[MOST_CITIES];
    int has_more = g->station_count[seat] < r->stations;
    own_stations(g, seat, own);
    station_cities(g, taken);
    for (int other = 0; other < r->seats; other++)
        for (int i = 0; other != seat && i < g->held[other]; i++) {
            int route = g->held_routes[other][i], a = r->a[route], b = r->b[route];
            if (own[a] || own[b]) costs[route] = in_units(r->w.least_cost);
            else if (has_more && !(taken[a] && taken[b])) costs[route] = price;
        }
}

static int most_held(const int *hand) {
    int most = hand[0];
    for (int kind = 1; kind < WILD; kind++) most = greatest(most, hand[kind]);
    return most;
}

static void route_costs(const Game *g, int seat, int turns, int *costs) {
    const Rules *r = g->rules;
    const Weights *w = &r->w;
    int held[WILD + 1], cars = g->cars[seat];
    memcpy(held, g->hands[seat], sizeof(int) * WILD);
    held[WILD] = most_held(held);
    double late = greatest_of(0.0, 1 - turns / w->turns_early), credit = w->card_credit + w->haste * late;
    double car_price = w->car_price * r->car_value + w->haste * late;
    for (int route = 0; route < r->routes; route++) {
        int owner = g->owners[route], length = r->lengths[route];
        if (owner == seat) {
            costs[route] = 0;
        } else if (owner == FREE && length <= cars) {
            double cost = length * car_price + r->claim_costs[route] - credit * least(held[r->colours[route]], length);
            costs[route] = in_units(greatest_of(w->least_cost, cost));
        } else {
            costs[route] = UNREACHABLE;
        }
    }
    for (int i = 0; i < g->held[seat]; i++) {
        int route = g->held_routes[seat][i];
        for (int j = 0; j < r->parallel_count[route]; j++)
            if (costs[r->parallels[route][j]]) costs[r->parallels[route][j]] = UNREACHABLE;
    }
    if (r->stations) price_loans(g, seat, costs);
}

typedef struct {
    int count;
    int size[MOST_TICKETS];
    Ticket tickets[MOST_TICKETS]; /* of the paths */
    int16_t routes[MOST_TICKETS][MOST_CITIES];
} Paths;

static void copy_paths(Paths *to, const Paths *from) {
    memcpy(to, from, offsetof(Paths, routes));
    for (int i = 0; i < from->count; i++) memcpy(to->routes[i], from->routes[i], sizeof(int16_t) * (size_t)from->size[i]);
}

/* The routes of all paths, each once, the lowest first. */
static int all_routes(const Rules *r, const Paths *paths, int16_t *routes) {
    Routes on = {0};
    int size = 0;
    for (int i = 0; i < paths->count; i++)
        for (int j = 0; j < paths->size[i]; j++) add_to(on.of, paths->routes[i][j]);
    for (int word = 0; word < r->words; word++)
        while (on.of[word]) routes[size++] = (int16_t)(64 * word + next_of(&on.of[word]));
    return size;
}

static void lay_paths(Game *g, const int *costs, Paths *paths) {
    int users[MOST_ROUTES] = {0};
    set_costs(g, costs);
    for (int i = 0; i < paths->count; i++) paths->size[i] = 0;
    for (int round = 0; round < (paths->count > 1 ? 2 : 1); round++)
        for (int i = 0; i < paths->count; i++) {
            int16_t found[MOST_CITIES];
            int size;
            for (int j = 0; j < paths->size[i]; j++) {
                int route = paths->routes[i][j];
                if (!--users[route]) set_cost(g, route, costs[route]);
            }
            shortest_path(g, paths->tickets[i].a, paths->tickets[i].b, found, &size);
            paths->size[i] = 0;
            for (int j = 0; j < size; j++)
                if (costs[found[j]]) {
                    paths->routes[i][paths->size[i]++] = found[j];
                    users[found[j]]++;
                    set_cost(g, found[j], 0);
                }
        }
}

static int turns_for(const Game *g, int seat, const int16_t *routes, int size) {
    const Rules *r = g->rules;
    const int *hand = g->hands[seat];
    int needed[ANY_COLOUR + 1] = {0}, missing = 0, surplus = 0;
    for (int i = 0; i < size; i++) needed[r->colours[routes[i]]] += r->lengths[routes[i]];
    for (int colour = 0; colour < WILD; colour++) {
        missing += greatest(0, needed[colour] - hand[colour]);
        surplus += greatest(0, hand[colour] - needed[colour]);
    }
    missing += greatest(0, needed[ANY_COLOUR] - surplus) - hand[WILD] - (r->kinds > WILD_IF_LONG ? hand[WILD_IF_LONG] : 0);
    return size + (greatest(0, missing) + 1) / 2;
}

/* Those of others' routes that no station of the seat borrows yet. */
static int needing_station(const Game *g, int seat, const int16_t *loans, int size, int16_t *found) {
    char own[MOST_CITIES];
    int count = 0;
    own_stations(g, seat, own);
    for (int i = 0; i < size; i++)
        if (!own[g->rules->a[loans[i]]] && !own[g->rules->b[loans[i]]]) found[count++] = loans[i];
    return count;
}

static int is_too_much(const Game *g, int seat, int turns, const Paths *paths) {
    const Rules *r = g->rules;
    int16_t routes[MOST_ROUTES], to_claim[MOST_ROUTES], loans[MOST_ROUTES];
    int size = all_routes(r, paths, routes), count = 0, loan_count = 0, cars = 0;
    for (int i = 0; i < size; i++)
        if (g->owners[routes[i]] == FREE) {
            to_claim[count++] = routes[i];
            cars += r->lengths[routes[i]];
        } else {
            loans[loan_count++] = routes[i];
        }
    if (loan_count) loan_count = needing_station(g, seat, loans, loan_count, loans);
    return cars > g->cars[seat] || loan_count > r->stations - g->station_count[seat]
        || (turns < r->w.turns_counted && turns_for(g, seat, to_claim, count) + loan_count > turns);
}

static int tighten(Game *g, int seat, int turns, const int *costs, Paths *paths) {
    const Rules *r = g->rules;
    int tight[MOST_ROUTES];
    for (int i = 0; i < 2; i++) {
        int price = in_units(i ? r->w.tight_second : r->w.tight_first);
        for (int route = 0; route < r->routes; route++)
            tight[route] = costs[route] && g->owners[route] == FREE ? costs[route] + price * r->lengths[route]
                                                                           : costs[route];
        lay_paths(g, tight, paths);
        if (!is_too_much(g, seat, turns, paths)) return paths->count > 0;
    }
    return 0;
}

/* What a ticket brings that misses so many routes. */
static int worth_made(Ticket ticket, int missing, double risk) {
    return in_units(2 * ticket.points * pow(1 - risk, (double)missing));
}

static int worth_of(const Rules *r, const int *costs, const Paths *paths, double risk) {
    int16_t routes[MOST_ROUTES];
    int size = all_routes(r, paths, routes);
    int worth = 0;
    for (int i = 0; i < paths->count; i++) worth += worth_made(paths->tickets[i], paths->size[i], risk);
    for (int i = 0; i < size; i++) worth -= costs[routes[i]];
    return worth;
}

static int least_worthwhile(const Rules *r, const int *costs, const Paths *paths, double risk, int too_much) {
    int users[MOST_ROUTES] = {0}, worst = -1;
    double least_gain = too_much ? UNREACHABLE : 0.0;
    for (int i = 0; i < paths->count; i++)
        for (int j = 0; j < paths->size[i]; j++) users[paths->routes[i][j]]++;
    for (int i = 0; i < paths->count; i++) {
        int own = 0, spaces = 0, cost = 0;
        for (int j = 0; j < paths->size[i]; j++) {
            int route = paths->routes[i][j];
            if (users[route] == 1) {
                own++;
                cost += costs[route];
                spaces += r->lengths[route];
            }
        }
        if (own) {
            double gain = worth_made(paths->tickets[i], own, risk) - cost;
            if (too_much) gain /= spaces;
            if (gain < least_gain) {
                worst = i;
                least_gain = gain;
            }
        }
    }
    return too_much && worst < 0 ? 0 : worst;
}

static void drop_ticket(Paths *paths, int index) {
    paths->count--;
    memmove(paths->tickets + index, paths->tickets + index + 1, sizeof(Ticket) * (size_t)(paths->count - index));
}

static void choose_paths(Game *g, int seat, int turns, const int *costs, Paths *paths) {
    const Rules *r = g->rules;
    double risk = g->station_count[seat] < r->stations ? r->w.borrowed_risk : r->w.route_risk;
    Paths best, tight;
    int has_best = 0, best_worth = 0;
    for (;;) {
        lay_paths(g, costs, paths);
        int count = 0;
        for (int i = 0; i < paths->count; i++)
            if (paths->size[i]) paths->tickets[count++] = paths->tickets[i];
        if (count < paths->count) {
            paths->count = count;
            continue;
        }
        int too_much = is_too_much(g, seat, turns, paths);
        if (too_much) {
            tight.count = paths->count;
            memcpy(tight.tickets, paths->tickets, sizeof(Ticket) * (size_t)paths->count);
            if (tighten(g, seat, turns, costs, &tight)) {
                int worth = worth_of(r, costs, &tight, risk);
                if (!has_best || worth > best_worth) {
                    has_best = 1;
                    best_worth = worth;
                    copy_paths(&best, &tight);
                }
            }
        }
        int worst = least_worthwhile(r, costs, paths, risk, too_much);
        if (worst < 0) break;
        drop_ticket(paths, worst);
    }
    if (has_best && worth_of(r, costs, paths, risk) < best_worth) copy_paths(paths, &best);
}

/* The routes by the points of the tickets that go by them. */
static void rank_routes(const Paths *paths, Plan *plan) {
    int stakes[MOST_ROUTES] = {0};
    for (int i = 0; i < paths->count; i++)
        for (int j = 0; j < paths->size[i]; j++)
            stakes[paths->routes[i][j]] = least(FULL_STAKE, stakes[paths->routes[i][j]] + paths->tickets[i].points);
    for (int i = 0; i < plan->size; i++) { /* from the lowest number on */
        int route = plan->routes[i], j = i;
        for (; j > 0 && stakes[plan->routes[j - 1]] < stakes[route]; j--) plan->routes[j] = plan->routes[j - 1];
        plan->routes[j] = (int16_t)route;
    }
    for (int i = 0; i < plan->size; i++) plan->weights[i] = 1 + stakes[plan->routes[i]] / (double)FULL_STAKE;
}

static void make_plan(Game *g, int seat, int turns, Plan *plan) {
    const Rules *r = g->rules;
    int size, costs[MOST_ROUTES];
    char made[MOST_TICKETS];
    int16_t routes[MOST_ROUTES], loans[MOST_ROUTES];
    Paths paths;
    route_costs(g, seat, turns, costs);
    tickets_made(g, seat, made);
    paths.count = 0;
    for (int i = 0; i < g->ticket_count[seat]; i++)
        if (!made[i]) {
            int j = paths.count++;
            for (; j > 0 && paths.tickets[j - 1].points < g->tickets[seat][i].points; j--)
                paths.tickets[j] = paths.tickets[j - 1];
            paths.tickets[j] = g->tickets[seat][i];
        }
    choose_paths(g, seat, turns, costs, &paths);
    size = all_routes(r, &paths, routes);
    plan->size = plan->loan_count = 0;
    int loan_count = 0;
    for (int i = 0; i < size; i++)
        if (g->owners[routes[i]] == FREE) plan->routes[plan->size++] = routes[i];
        else loans[loan_count++] = routes[i];
    if (loan_count) plan->loan_count = needing_station(g, seat, loans, loan_count, plan->loans);
    rank_routes(&paths, plan);
    memset(&plan->set, 0, sizeof plan->set);
    for (int i = 0; i < plan->size; i++) add_to(plan->set.of, plan->routes[i]);
    plan->is_made = 1;
    plan->version = ++g->version;
}

/* The cities in which a station would lend what the plan borrows; returns the first, or NOWHERE. */
static int free_place(const Game *g, const Plan *plan) {
    char taken[MOST_CITIES];
    station_cities(g, taken);
    for (int i = 0; i < plan->loan_count; i++) {
        int a = g->rules->a[plan->loans[i]], b = g->rules->b[plan->loans[i]];
        if (!taken[a]) return a;
        if (!taken[b]) return b;
    }
    return NOWHERE;
}

static const Plan *plan_of(Game *g, int seat, int turns) {
    const Rules *r = g->rules;
    Plan *plan = &g->plans[seat];
    if (plan->is_made) {
        int left = 0, is_good = 1, spaces = 0;
        for (int i = 0; i < plan->size; i++)
            if (g->owners[plan->routes[i]] != seat) {
                plan->routes[left] = plan->routes[i];
                plan->weights[left++] = plan->weights[i];
                spaces += r->lengths[plan->routes[i]];
            } else {
                remove_from(plan->set.of, plan->routes[i]);
            }
        if (left < plan->size) {
            plan->size = left;
            plan->version = ++g->version;
        }
        for (int word = 0; word < r->words; word++)
            is_good &= !(plan->set.of[word] & (~g->free.of[word] | g->parallels_of[seat].of[word]));
        if (is_good && spaces <= g->cars[seat] && (!plan->loan_count || free_place(g, plan) != NOWHERE)
            && (turns >= r->w.turns_counted || turns_for(g, seat, plan->routes, left) <= turns))
            return plan;
    }
    make_plan(g, seat, turns, plan);
    return plan;
}

/* -- what the seat needs (rollout_needs) ------------------------------------------------------- */

static inline int take_spare(Shares *hand, int colour, int most) {
    int used = least(most, hand->spare[colour]);
    hand->spare[colour] -= used;
    hand->reserved[colour] += used;
    return used;
}

static void assign(const Game *g, Needs *needs) {
    const Rules *r = g->rules;
    memcpy(needs->hand.spare, g->hands[g->turn], sizeof(int) * WILD);
    needs->hand.spare[ANY_COLOUR] = 0;
    memset(needs->hand.reserved, 0, sizeof needs->hand.reserved);
    needs->gray_count = 0;
    for (int i = 0; i < needs->size; i++) {
        int route = needs->routes[i], colour = r->colours[route];
        needs->grays[needs->gray_count] = i; /* without a branch */
        needs->gray_count += colour == ANY_COLOUR;
        needs->colours[i] = colour;
        needs->missing[i] = r->spaces[route] - take_spare(&needs->hand, colour, r->spaces[route]);
    }
    for (int j = 0; j < needs->gray_count; j++) {
        int i = needs->grays[j], length = r->spaces[needs->routes[i]], most = -1;
        for (int kind = 0; kind < WILD; kind++) /* the first of those with most */
            most = greatest(most, needs->hand.spare[kind] * WILD + WILD - 1 - kind);
        int colour = WILD - 1 - (most & (WILD - 1));
        needs->colours[i] = colour;
        needs->missing[i] = length - take_spare(&needs->hand, colour, length);
    }
}

/* What a filler brings a turn and its route, the lowest first, as one number: such are compared many at once. Below 0 of
 * what isn't one. */
static inline int filler_key(const Rules *r, const Fillers *fillers, int slot, int held) {
    int missing = greatest(0, r->slot_lengths[slot] - held);
    return fillers->values[slot] * r->shares[missing] * MOST_ROUTES + MOST_ROUTES - 1 - r->slot_routes[slot];
}

/* The keys of the fillers that bring most and fit, one after the other, the best first; returns how many. */
static ALWAYS_INLINE int best_of_keys(const Rules *r, const int *keys, int cars, int *chosen, int size) {
    int count = 0, last = INT32_MAX;
    for (; count < MOST_FILLERS; count++) {
        int best = -1;
        for (int slot = 0; slot < size; slot++) { /* many at once */
            int key = keys[slot] < last && r->slot_lengths[slot] <= cars ? keys[slot] : -1;
            best = key > best ? key : best;
        }
        if (best < 0) break;
        last = chosen[count] = best;
        cars -= r->lengths[MOST_ROUTES - 1 - best % MOST_ROUTES];
    }
    return count;
}

VECTORS static int best_keys(const Rules *r, const int *keys, int cars, int *chosen) {
    int size = (r->routes + 15) / 16 * 16;
    switch (size) {
    case 96: return best_of_keys(r, keys, cars, chosen, 96);
    case 112: return best_of_keys(r, keys, cars, chosen, 112);
    default: return best_of_keys(r, keys, cars, chosen, size);
    }
}

/* The fillers that bring most a turn and fit, as keys; returns how many. */
static int choose_fillers(const Rules *r, const int *held, int cars, Fillers *fillers, int *chosen) {
    for (int colour = 0; colour <= ANY_COLOUR; colour++) {
        if (fillers->held[colour] == held[colour]) continue;
        fillers->held[colour] = held[colour];
        for (int slot = r->slot_starts[colour]; slot < r->slot_starts[colour + 1]; slot++)
            fillers->keys[slot] = filler_key(r, fillers, slot, held[colour]);
    }
    return best_keys(r, fillers->keys, cars, chosen);
}

static void add_fillers(const Game *g, Needs *needs, int cars, Fillers *fillers) {
    const Rules *r = g->rules;
    int chosen[MOST_FILLERS], held[WILD + 1];
    memcpy(held, needs->hand.spare, sizeof(int) * WILD);
    held[WILD] = most_held(held);
    needs->bonuses = fillers->bonuses;
    int count = choose_fillers(r, held, cars, fillers, chosen);
    for (int i = 0; i < count; i++) {
        needs->routes[needs->size] = MOST_ROUTES - 1 - chosen[i] % MOST_ROUTES;
        needs->weights[needs->size++] = r->w.filler_weight * (chosen[i] / MOST_ROUTES) / (4 * FILLER_UNITS * FULL_SHARE);
    }
    assign(g, needs);
}

static void card_values(const Game *g, const Needs *needs, double *values) {
    const Rules *r = g->rules;
    const Weights *w = &r->w;
    const int *hand = g->hands[g->turn];
    double most = 0.3, grays = 0.0;
    for (int kind = 0; kind < MOST_KINDS; kind++) values[kind] = w->idle_value + w->idle_growth * hand[kind];
    for (int i = 0; i < needs->size; i++) { /* without branches: what isn't missing is worth 0, and nothing is worth less */
        int colour = needs->colours[i], missing = needs->missing[i];
        double value = needs->weights[i] * r->half_over[missing];
        values[colour] = greatest_of(values[colour], value);
        most = greatest_of(most, value);
        grays += needs->weights[i] * (missing && r->colours[needs->routes[i]] == ANY_COLOUR);
    }
    for (int colour = 0; colour < WILD; colour++) values[colour] += w->gray_value * grays;
    values[WILD] = 1.15 * most;
    if (r->has_ferries) {
        int ferries = 0;
        for (int i = 0; i < needs->size; i++) ferries += r->ferries[needs->routes[i]];
        if (ferries > hand[WILD]) values[WILD] += w->ferry_value;
    }
    if (r->kinds > WILD_IF_LONG) {
        values[WILD_IF_LONG] = w->plus_four_value * most;
        values[TOLL] = w->passenger_value;
    }
}

static inline void add_way(Ways *ways, int way, int from, int to, int length) {
    ways->other[way] = (int16_t)to;
    ways->length[way] = (int16_t)length;
    ways->next[way] = -1;
    if (ways->first[from] < 0) ways->first[from] = (int16_t)way;
    else ways->next[ways->last[from]] = (int16_t)way;
    ways->last[from] = (int16_t)way;
}

/* The spaces of a path to each city of the part, in the order in which they are found. */
static int spaces_from(const Ways *ways, int start, int16_t *spaces, int16_t *found) {
    int16_t stack[MOST_CITIES];
    int waiting = 1, count = 1;
    stack[0] = found[0] = (int16_t)start;
    spaces[start] = 0;
    while (waiting) {
        int city = stack[--waiting];
        for (int way = ways->first[city]; way >= 0; way = ways->next[way]) {
            int other = ways->other[way];
            if (spaces[other] < 0) {
                spaces[other] = (int16_t)(spaces[city] + ways->length[way]);
                found[count++] = stack[waiting++] = (int16_t)other;
            }
        }
    }
    return count;
}

static int farthest(const int16_t *spaces, const int16_t *found, int count) {
    int best = found[0];
    for (int i = 1; i < count; i++)
        if (spaces[found[i]] > spaces[best]) best = found[i];
    return best;
}

static void find_spans(const Game *g, const int16_t *routes, int size, const int16_t *more, int more_size, Spans *spans) {
    const Rules *r = g->rules;
    Ways ways;
    int16_t order[MOST_CITIES], from[3][MOST_CITIES], found[MOST_CITIES], again[MOST_CITIES];
    int cities = 0, longest = 0, way = 0;
    size_t bytes = sizeof(int16_t) * (size_t)r->cities;
    memset(ways.first, -1, bytes);
    memset(spans->part, -1, bytes);
    memset(spans->spaces, 0, bytes);
    for (int i = 0; i < 3; i++) memset(from[i], -1, bytes);
    for (int i = 0; i < size + more_size; i++) {
        int route = i < size ? routes[i] : more[i - size];
        for (int side = 0; side < 2; side++, way++) {
            int city = side ? r->b[route] : r->a[route];
            if (ways.first[city] < 0) order[cities++] = (int16_t)city;
            add_way(&ways, way, city, side ? r->a[route] : r->b[route], r->lengths[route]);
        }
    }
    spans->count = cities;
    memcpy(spans->cities, order, sizeof(int16_t) * (size_t)cities);
    for (int i = 0; i < cities; i++) {
        int city = order[i];
        if (spans->part[city] >= 0) continue;
        int count = spaces_from(&ways, city, from[0], found);
        spaces_from(&ways, farthest(from[0], found, count), from[1], again);
        spaces_from(&ways, farthest(from[1], again, count), from[2], again);
        int of_part = 0;
        for (int j = 0; j < count; j++) {
            int each = found[j];
            spans->spaces[each] = (int16_t)greatest(from[1][each], from[2][each]);
            spans->part[each] = (int16_t)city;
            of_part = greatest(of_part, spans->spaces[each]);
        }
        longest = greatest(longest, of_part);
    }
    spans->longest = longest;
}

/* The longest path of the seat's routes, as `find_spans` finds it. Those of a forest are lengthened route by route. */
static int longest_of(Game *g, int seat) {
    const Rules *r = g->rules;
    Forest *forest = &g->forests[seat];
    if (!forest->is_made) {
        memset(forest->ways.first, -1, sizeof forest->ways.first);
        memset(forest->spaces, 0, sizeof forest->spaces);
        forest->held = forest->longest = forest->has_cycle = 0;
        forest->is_made = 1;
    }
    for (; forest->held < g->held[seat]; forest->held++) {
        int route = g->held_routes[seat][forest->held], ends[2] = {r->a[route], r->b[route]}, counts[2], to[2];
        int16_t from[2][MOST_CITIES], found[2][MOST_CITIES];
        for (int side = 0; side < 2; side++) {
            memset(from[side], -1, sizeof(int16_t) * (size_t)r->cities);
            counts[side] = spaces_from(&forest->ways, ends[side], from[side], found[side]);
            to[side] = r->lengths[route] + forest->spaces[ends[!side]];
        }
        forest->has_cycle |= from[0][ends[1]] >= 0;
        for (int side = 0; side < 2; side++) {
            for (int i = 0; i < counts[side]; i++) {
                int city = found[side][i];
                forest->spaces[city] = (int16_t)greatest(forest->spaces[city], from[side][city] + to[side]);
                forest->longest = greatest(forest->longest, forest->spaces[city]);
            }
            add_way(&forest->ways, 2 * forest->held + side, ends[side], ends[!side], r->lengths[route]);
        }
        if (forest->has_cycle) {
            Spans spans;
            find_spans(g, g->held_routes[seat], g->held[seat], NULL, 0, &spans);
            forest->longest = spans.longest;
        }
    }
    return forest->longest;
}

/* The spans of the seat's and the planned routes. Returns whether these are others than before. */
static int span_network(const Game *g, const Plan *plan, Fillers *fillers) {
    const Rules *r = g->rules;
    int seat = g->turn, size = 0;
    int16_t planned[MOST_ROUTES];
    Routes spanned = plan->set;
    for (int i = 0; i < g->held[seat]; i++) add_to(spanned.of, g->held_routes[seat][i]);
    if (fillers->has_spans && !memcmp(&spanned, &fillers->spanned, sizeof spanned)) return 0;
    for (int word = 0; word < r->words; word++)
        for (uint64_t rest = plan->set.of[word]; rest;) planned[size++] = (int16_t)(64 * word + next_of(&rest));
    find_spans(g, g->held_routes[seat], g->held[seat], planned, size, &fillers->spans);
    fillers->spanned = spanned;
    fillers->has_spans = 1;
    return 1;
}

/* The chance to have the longest route with a plan that is so many spaces ahead. */
static inline double chance_ahead(const Rules *r, int spaces) {
    return r->chances[MOST_AHEAD + greatest(-MOST_AHEAD, least(MOST_AHEAD, spaces))];
}

static void path_bonuses(Game *g, const Plan *plan, Fillers *fillers, Routes *changed) {
    const Rules *r = g->rules;
    const Weights *w = &r->w;
    if (r->playing != 2) return;
    int seat = g->turn, rival = r->order[r->order[0] == seat], rivals = longest_of(g, rival), is_last = g->last_turns != NOT_YET;
    int is_other = span_network(g, plan, fillers);
    if (!is_other && fillers->rival_longest == rivals && fillers->is_last_bonus == is_last) return;
    fillers->rival_longest = rivals;
    fillers->is_last_bonus = is_last;
    for (int word = 0; word < r->words; word++) {
        changed->of[word] = fillers->with_bonus.of[word];
        for (uint64_t rest = changed->of[word]; rest;) fillers->bonuses[64 * word + next_of(&rest)] = 0;
        fillers->with_bonus.of[word] = 0;
    }
    const Spans *spans = &fillers->spans;
    int growth = is_last ? 0 : (int)(w->trail_growth * g->cars[rival]);
    int longest = spans->longest, ahead = longest - rivals - growth;
    double before = chance_ahead(r, ahead), swing = w->trail_share * 2 * r->longest_bonus * FILLER_UNITS;
    Routes near = {0};
    for (int i = 0; i < spans->count; i++)
        for (int word = 0; word < r->words; word++) near.of[word] |= r->exit_sets[spans->cities[i]].of[word];
    for (int word = 0; word < r->words; word++)
        for (uint64_t rest = near.of[word] & g->free.of[word]; rest;) {
            int bit = next_of(&rest), route = 64 * word + bit, a = r->a[route], b = r->b[route];
            int more = spans->spaces[a] + r->lengths[route] + spans->spaces[b] - longest;
            uint64_t is_longer = spans->part[a] != spans->part[b] && more > 0;
            fillers->bonuses[route] = -(int)is_longer & (int)(swing * (chance_ahead(r, ahead + more) - before));
            fillers->with_bonus.of[word] |= is_longer << bit;
        }
    for (int word = 0; word < r->words; word++) changed->of[word] |= fillers->with_bonus.of[word];
}

static Fillers *find_fillers(Game *g, const Plan *plan) {
    const Rules *r = g->rules;
    int seat = g->turn, is_last = g->last_turns != NOT_YET;
    Fillers *fillers = &g->fillers[seat];
    Routes others = {0}, touching = {0}, changed = {0};
    int is_same_network = fillers->is_made && fillers->version == plan->version && fillers->held_routes == g->held[seat];
    if (fillers->is_made && fillers->version == plan->version && fillers->claimed == g->claimed
        && fillers->is_last == is_last)
        return fillers;
    if (!fillers->is_made) {
        memset(fillers->bonuses, 0, sizeof fillers->bonuses);
        memset(fillers->keys, -1, sizeof fillers->keys);
        memset(fillers->values, -1, sizeof fillers->values);
        memset(fillers->held, 0, sizeof fillers->held);
        memset(&fillers->others, 0, sizeof fillers->others);
        memset(&fillers->touching, 0, sizeof fillers->touching);
        memset(&fillers->with_bonus, 0, sizeof fillers->with_bonus);
        fillers->has_spans = 0;
    }
    fillers->is_made = 1;
    fillers->held_routes = g->held[seat];
    fillers->version = plan->version;
    fillers->claimed = g->claimed;
    fillers->is_last = is_last;
    for (int word = 0; word < r->words; word++)
        others.of[word] = g->free.of[word] & ~plan->set.of[word] & ~g->parallels_of[seat].of[word];
    if (r->longest_bonus) {
        path_bonuses(g, plan, fillers, &changed);
    }
    if (is_same_network) {
        touching = fillers->touching;
    } else if (r->longest_bonus) {
        uint64_t touched[CITY_WORDS];
        memcpy(touched, g->touched[seat], sizeof touched);
        for (int i = 0; i < plan->size; i++) {
            add_to(touched, r->a[plan->routes[i]]);
            add_to(touched, r->b[plan->routes[i]]);
        }
        for (int part = 0; part < CITY_WORDS; part++) /* a route with both ends in the network is added twice: not at all */
            for (uint64_t rest = touched[part]; rest;) {
                int city = 64 * part + next_of(&rest);
                for (int word = 0; word < r->words; word++) touching.of[word] ^= r->exit_sets[city].of[word];
            }
    }
    for (int word = 0; word < r->words; word++) {
        changed.of[word] |= (fillers->others.of[word] ^ others.of[word]) | ((fillers->touching.of[word] ^ touching.of[word]) & others.of[word]);
        for (uint64_t rest = changed.of[word]; rest;) {
            int route = 64 * word + next_of(&rest), slot = r->slots[route], value = r->filler_values[is_in(touching.of, route)][route];
            fillers->values[slot] = is_in(others.of, route) ? value + fillers->bonuses[route] : -1;
            fillers->keys[slot] = filler_key(r, fillers, slot, fillers->held[r->colours[route]]);
        }
    }
    fillers->others = others;
    fillers->touching = touching;
    return fillers;
}

static const Plan *find_needs(Game *g, int turns, Needs *needs) {
    static const int no_bonuses[MOST_ROUTES];
    const Plan *plan = plan_of(g, g->turn, turns);
    const int *hand = g->hands[g->turn];
    int cars = g->cars[g->turn], missing = 0;
    needs->size = needs->planned = plan->size;
    for (int i = 0; i < plan->size; i++) {
        needs->routes[i] = plan->routes[i];
        needs->weights[i] = plan->weights[i];
        cars -= g->rules->lengths[plan->routes[i]];
    }
    assign(g, needs);
    for (int i = 0; i < needs->planned; i++) missing += needs->missing[i];
    needs->wilds_short = missing - hand[WILD] - (g->rules->kinds > WILD_IF_LONG ? hand[WILD_IF_LONG] : 0) / 2.0;
    needs->bonuses = no_bonuses;
    if (!plan->size || turns <= 1) add_fillers(g, needs, cars, find_fillers(g, plan));
    return plan;
}

/* -- claims, stations and journeys (rollout_actions) -------------------------------------------- */

static int plus_fours(const Game *g, int route) {
    const Rules *r = g->rules;
    if (r->kinds <= WILD_IF_LONG || r->lengths[route] < r->wild_if_long_least) return 0;
    return g->hands[g->turn][WILD_IF_LONG];
}

static int cheapest_payment(
    const Game *g, const Needs *needs, int index, double wild_price, double *price_found, Claim *claim
) {
    const Rules *r = g->rules;
    const int *hand = g->hands[g->turn];
    int route = needs->routes[index], spaces = r->spaces[route], ferry = r->ferries[route], colour = r->colours[route];
    int fours = plus_fours(g, route), own = spaces - needs->missing[index], found = 0;
    int from = colour == ANY_COLOUR ? 0 : colour, to = colour == ANY_COLOUR ? WILD : colour + 1;
    double cheapest = UNREACHABLE;
    for (int paid = from; paid < to; paid++) {
        int missing = greatest(0, spaces - hand[paid]), plus = least(missing, fours), wilds = missing - plus;
        if (wilds + ferry <= hand[WILD]) {
            int reserved = needs->hand.reserved[paid] - (needs->colours[index] == paid ? own : 0);
            double price = wild_price * (wilds + r->w.plus_four_share * plus);
            price += r->w.reserved_price * greatest(0, spaces - missing - hand[paid] + reserved);
            if (price < cheapest) {
                *claim = (Claim){route, paid, wilds + ferry, plus};
                cheapest = price;
                found = 1;
            }
        }
    }
    *price_found = cheapest;
    return found;
}

static int is_risky(const Game *g, const Claim *claim) {
    const int *hand = g->hands[g->turn];
    int most = g->rules->tunnel_cards, coloured = g->rules->lengths[claim->route] - claim->wilds;
    int spare = hand[claim->colour] - coloured + hand[WILD] - claim->wilds;
    return spare < (g->deck_size + g->discard_size <= most ? most : 1);
}

static int would_end(const Game *g) {
    const Rules *r = g->rules;
    int seat = g->turn, points = g->points[seat];
    char made[MOST_TICKETS];
    if (r->seats != 2 || g->cars[seat] > r->w.cars_to_end) return 0;
    tickets_made(g, seat, made);
    for (int i = 0; i < g->ticket_count[seat]; i++)
        points += made[i] ? g->tickets[seat][i].points : -g->tickets[seat][i].points;
    return points > g->points[1 - seat] + r->w.ticket_points * g->ticket_count[1 - seat];
}

static int place_for_passenger(const Game *g, int route) {
    const Rules *r = g->rules;
    int best = NOWHERE, most = 0;
    if (!g->passengers_left[g->turn]) return NOWHERE;
    for (int side = 0; side < 2; side++) {
        int city = side ? r->b[route] : r->a[route], is_free = !r->is_country[city];
        for (int i = 0; i < g->travellers; i++) is_free &= g->traveller_city[i] != city;
        /* an empty stack comes before one of nothing, as () before (0,) */
        int top = g->token_count[city] > 0 ? g->tokens[city][0] : g->token_count[city] == 0 ? INT32_MIN : 0;
        if (is_free && (best == NOWHERE || top > most)) {
            best = city;
            most = top;
        }
    }
    return best;
}

static double place_worth(const Game *g, int city) {
    if (city == NOWHERE) return 0.0;
    return g->rules->w.placed + g->rules->w.per_token * (g->token_count[city] > 0 ? g->tokens[city][0] : 0);
}

static double filler_price_of(const Game *g, int turns) {
    const Weights *w = &g->rules->w;
    double share = least_of(1.0, turns * w->filler_pace / greatest(1, g->cars[g->turn]));
    if (would_end(g)) share *= w->end_share;
    return w->filler_price * g->rules->car_value * share;
}

static int best_claim(const Game *g, const Needs *needs, int turns, Claim *best) {
    const Rules *r = g->rules;
    const Weights *w = &r->w;
    int seat = g->turn, found = 0;
    const int *hand = g->hands[seat];
    double filler_price = needs->planned ? 0.0 : filler_price_of(g, turns);
    double wild_price = w->wild_price * least_of(1.0, greatest_of(0.0, needs->wilds_short / w->cards_short)), most = 0.0;
    int held = most_held(hand) + hand[WILD] + (r->kinds > WILD_IF_LONG ? hand[WILD_IF_LONG] : 0);
    for (int i = 0; i < needs->size; i++) {
        int route = needs->routes[i], length = r->lengths[route];
        double price, worth;
        Claim claim;
        if (length > held) continue;
        if (i < needs->planned) {
            worth = 2 * needs->weights[i] + r->tenth_points[route] - w->claim_threshold;
            if (g->passengers_left[seat]) worth += place_worth(g, place_for_passenger(g, route));
        } else {
            worth = r->points[route] - length * filler_price - w->filler_margin;
            worth += needs->bonuses[route] * (1.0 / FILLER_UNITS);
        }
        if (worth <= most || !cheapest_payment(g, needs, i, wild_price, &price, &claim)) continue; /* no price is below 0 */
        if (worth - price > most && !(r->is_tunnel[route] && is_risky(g, &claim))) {
            *best = claim;
            most = worth - price;
            found = 1;
        }
    }
    return found;
}

static int last_claim(const Game *g, const Plan *plan, const int *bonuses, double *most_found, Claim *claim) {
    const Rules *r = g->rules;
    int seat = g->turn, cars = g->cars[seat], best = -1, ticket_points = 0, held[WILD + 1];
    const int *hand = g->hands[seat];
    double most = -1.0;
    if (plan->size == 1)
        for (int i = 0; i < g->ticket_count[seat]; i++) ticket_points += 2 * g->tickets[seat][i].points;
    memcpy(held, hand, sizeof(int) * WILD);
    held[WILD] = most_held(hand);
    for (int word = 0; word < r->words; word++)
        for (uint64_t rest = g->free.of[word] & ~g->parallels_of[seat].of[word]; rest;) {
            int route = 64 * word + next_of(&rest), length = r->lengths[route];
            double worth = r->points[route] + bonuses[route] / (double)FILLER_UNITS;
            if (ticket_points && route == plan->routes[0]) worth += ticket_points;
            if (worth > most && length <= cars && r->ferries[route] <= hand[WILD]
                && least(held[r->colours[route]], r->spaces[route]) + hand[WILD] + plus_fours(g, route) >= length) {
                best = route;
                most = worth;
            }
        }
    if (best < 0) return 0;
    int colour = r->colours[best];
    if (colour == ANY_COLOUR)
        for (colour = 0; hand[colour] != held[WILD];) colour++;
    int is_short = greatest(0, r->spaces[best] - hand[colour]), plus = least(is_short, plus_fours(g, best));
    *claim = (Claim){best, colour, is_short - plus + r->ferries[best], plus};
    *most_found = most;
    return 1;
}

static int build_station(Game *g, const Plan *plan, const Needs *needs) {
    const Rules *r = g->rules;
    const int *hand = g->hands[g->turn];
    int built = g->station_count[g->turn], place = free_place(g, plan), found = 0;
    Payment best = {0};
    double cheapest = 0.0;
    if (place == NOWHERE || built >= r->stations) return 0;
    int cost = r->station_costs[built];
    for (int colour = 0; colour < WILD; colour++) {
        int wilds = greatest(0, cost - hand[colour]);
        if (wilds <= hand[WILD]) {
            double price = r->w.locomotive_price * wilds + (cost - wilds) * (1 - r->w.spare_credit * needs->hand.spare[colour]);
            if (!found || price < cheapest) {
                found = 1;
                cheapest = price;
                best.size = 0;
                add_paid(&best, colour, cost - wilds);
                add_paid(&best, WILD, wilds);
            }
        }
    }
    if (found) build_station_at(g, place, &best, NOWHERE);
    return found;
}

typedef struct { int points, number, city, tolls, size; uint64_t seen[2]; int16_t path[MOST_WALKS + 2]; } Walk;

/* The best journey from a city: walks with most points are extended first. */
static void search_journey(
    Game *g, int start, const Ways *ways, const int16_t *route_of, const char *is_toll, int cards, Walk *best
) {
    Walk walks[MOST_OPEN_WALKS];
    int waiting = 1, number = 0;
    memset(&walks[0], 0, sizeof walks[0]);
    walks[0].city = start;
    walks[0].seen[start >> 6] = UINT64_C(1) << (start & 63);
    *best = walks[0];
    while (waiting && number < MOST_WALKS) {
        int first = 0;
        for (int i = 1; i < waiting; i++)
            if (walks[i].points > walks[first].points
                || (walks[i].points == walks[first].points && walks[i].number < walks[first].number))
                first = i;
        Walk walk = walks[first];
        walks[first] = walks[--waiting];
        if (walk.points > best->points) *best = walk;
        for (int way = ways->first[walk.city]; way >= 0; way = ways->next[way]) {
            int route = route_of[way], other = ways->other[way], is_used = 0;
            for (int i = 0; i < walk.size; i++) is_used |= walk.path[i] == route;
            if (walk.tolls + is_toll[way] > cards || is_used) continue;
            if (waiting == MOST_OPEN_WALKS || walk.size == MOST_WALKS) {
                g->is_declined = 1;
                return;
            }
            Walk *next = &walks[waiting++];
            *next = walk;
            next->number = ++number;
            if (!(walk.seen[other >> 6] >> (other & 63) & 1) && g->token_count[other] > 0)
                next->points += g->tokens[other][0];
            next->city = other;
            next->tolls += is_toll[way];
            next->seen[other >> 6] |= UINT64_C(1) << (other & 63);
            next->path[next->size++] = (int16_t)route;
        }
    }
    const Walk *longest = best;
    for (int i = 0; i < waiting; i++)
        if (walks[i].points > longest->points
            || (longest != best && walks[i].points == longest->points && walks[i].number < longest->number))
            longest = &walks[i];
    if (longest != best) *best = *longest;
}

/* The journey of the seat to act that collects most, of at least so many points. */
static int best_journey(Game *g, double least_points, Walk *best) {
    const Rules *r = g->rules;
    int seat = g->turn, starts = 0, found = 0;
    for (int i = 0; i < g->travellers; i++) starts += g->traveller_owner[i] == seat;
    if (!starts) return 0;
    int cards = r->kinds > TOLL ? g->hands[seat][TOLL] : 0, way = 0, tokens = 0;
    Ways ways;
    int16_t route_of[2 * MOST_ROUTES];
    char is_toll[2 * MOST_ROUTES], is_near[MOST_CITIES] = {0};
    memset(ways.first, -1, sizeof ways.first);
    for (int owner = cards ? 0 : seat; owner < (cards ? r->seats : seat + 1); owner++)
        for (int i = 0; i < g->held[owner]; i++) {
            int route = g->held_routes[owner][i], a = r->a[route], b = r->b[route];
            for (int side = 0; side < 2; side++) {
                int city = side ? b : a;
                if (!is_near[city] && g->token_count[city] > 0) tokens += g->tokens[city][0];
                is_near[city] = 1;
            }
            if (r->is_country[a] || r->is_country[b]) continue;
            for (int side = 0; side < 2; side++, way++) {
                add_way(&ways, way, side ? b : a, side ? a : b, r->lengths[route]);
                route_of[way] = (int16_t)route;
                is_toll[way] = owner != seat;
            }
        }
    if (!(tokens >= least_points)) return 0;
    for (int i = 0; i < g->travellers; i++)
        if (g->traveller_owner[i] == seat) {
            Walk walk;
            int start = g->traveller_city[i];
            search_journey(g, start, &ways, route_of, is_toll, cards, &walk);
            if (walk.points >= least_points && (!found || walk.points > best->points)) {
                *best = walk;
                best->city = start;
                found = 1;
            }
        }
    return found;
}

static void take_journey(Game *g, const Walk *journey) {
    int path[MOST_WALKS + 2];
    for (int i = 0; i < journey->size; i++) path[i] = journey->path[i];
    move_passenger(g, journey->city, path, journey->size);
}

/* -- the policy of all seats (rollout_policy) ----------------------------------------------------- */

static void claim_for(Game *g, int route, Payment *payment, int passenger) {
    if (g->rules->is_tunnel[route]) {
        const int *hand = g->hands[g->turn];
        int extra = reveal_tunnel(g, payment), colour = payment->of[0].kind, paid = 0, wilds = 0;
        for (int i = 0; i < payment->size; i++) {
            if (payment->of[i].kind == colour) paid = payment->of[i].count;
            if (payment->of[i].kind == WILD) wilds = payment->of[i].count;
        }
        int coloured = colour == WILD ? 0 : least(extra, hand[colour] - paid);
        if (extra - coloured > hand[WILD] - wilds) return;
        add_paid(payment, colour, coloured);
        add_paid(payment, WILD, extra - coloured);
    }
    claim_route(g, route, payment, passenger);
}

static void make_claim(Game *g, const Claim *claim, const Plan *plan) {
    Payment payment = {0};
    int place = NOWHERE;
    for (int i = 0; i < plan->size; i++)
        if (plan->routes[i] == claim->route) {
            place = place_for_passenger(g, claim->route);
            break;
        }
    add_paid(&payment, claim->colour, g->rules->lengths[claim->route] - claim->wilds - claim->wilds_if_long);
    add_paid(&payment, WILD, claim->wilds);
    add_paid(&payment, WILD_IF_LONG, claim->wilds_if_long);
    claim_for(g, claim->route, &payment, place);
}

static int next_tickets(const Game *g, int *counts) {
    const Rules *r = g->rules;
    int all = 0, left[MOST_DECKS];
    for (int deck = 0; deck < r->decks; deck++) {
        counts[deck] = r->tickets_named ? 0 : least(r->tickets_drawn[deck], g->deck_tickets[deck]);
        left[deck] = r->tickets_drawn[deck] ? g->deck_tickets[deck] : 0;
        all += r->tickets_named ? left[deck] : counts[deck];
    }
    if (!r->tickets_named) return all;
    all = least(all, r->tickets_named);
    for (int i = 0; i < all; i++) {
        int best = 0;
        for (int deck = 1; deck < r->decks; deck++) {
            int has = left[deck] > counts[deck], best_has = left[best] > counts[best];
            if (has > best_has || (has == best_has && counts[deck] < counts[best])) best = deck;
        }
        counts[best]++;
    }
    return all;
}

static void take_tickets(Game *g, const int *counts) {
    const Rules *r = g->rules;
    Ticket offer[MOST_TICKETS];
    int seat = g->turn, size = draw_tickets(g, counts, offer), ranked[MOST_TICKETS], kept[MOST_TICKETS], count = 0;
    int costs[MOST_ROUTES], gains[MOST_TICKETS];
    int turns = turns_left(g, seat);
    route_costs(g, seat, turns, costs);
    const Plan *plan = plan_of(g, seat, turns);
    for (int i = 0; i < plan->size; i++) costs[plan->routes[i]] = 0;
    set_costs(g, costs);
    for (int i = 0; i < size; i++) {
        int j = i;
        int16_t routes[MOST_CITIES];
        int length;
        gains[i] = in_units(0.9 * offer[i].points) - shortest_path(g, offer[i].a, offer[i].b, routes, &length);
        for (; j > 0 && gains[ranked[j - 1]] < gains[i]; j--) ranked[j] = ranked[j - 1];
        ranked[j] = i;
    }
    for (int rank = 0; rank < size; rank++)
        if (rank < r->least_kept || gains[ranked[rank]] > 0) kept[count++] = ranked[rank];
    keep_tickets(g, offer, size, kept, count);
    g->plans[seat].is_made = 0;
}

static int draw_card(Game *g, const double *values, int is_first) {
    const Rules *r = g->rules;
    double blind = -1.0;
    if (has_cards(g)) {
        blind = 0.0;
        for (int kind = 0; kind < MOST_KINDS; kind++) blind += values[kind] * r->card_shares[kind];
    }
    int best = -1, wild = -1;
    double most = blind, second = blind;
    for (int slot = 0; slot < g->slots; slot++) {
        int card = g->market[slot];
        if (card == WILD && wild < 0) wild = slot;
        if (card == NO_CARD || card == WILD) continue;
        second = greatest_of(second, values[card]);
        if (values[card] > most) {
            best = slot;
            most = values[card];
        }
    }
    if (is_first && wild >= 0 && values[WILD] - second > most) best = wild;
    if (best < 0) {
        draw_blind(g);
        return 1;
    }
    return draw_market(g, best) != WILD;
}

static void draw_second_card(Game *g) {
    Needs needs;
    double values[MOST_KINDS];
    if (!has_second_card(g)) return;
    find_needs(g, turns_left(g, g->turn), &needs);
    card_values(g, &needs, values);
    draw_card(g, values, 0);
}

static int draw_cards(Game *g, Needs *needs) {
    const Rules *r = g->rules;
    double values[MOST_KINDS];
    if (r->cards_asked) {
        if (g->deck_size < r->cards_asked) return 0;
        request_cards(g);
        return 1;
    }
    int is_wild_open = 0;
    for (int slot = 0; slot < g->slots; slot++) is_wild_open |= g->market[slot] == WILD;
    if (!(has_second_card(g) || is_wild_open)) return 0;
    card_values(g, needs, values);
    if (draw_card(g, values, 1) && has_second_card(g)) draw_card(g, values, 0);
    return 1;
}

static int play_last(Game *g, const Plan *plan, const Needs *needs) {
    Claim claim;
    Walk journey;
    double most = 0.0;
    int found = last_claim(g, plan, needs->bonuses, &most, &claim);
    if (plan->loan_count == 1 && !plan->size && build_station(g, plan, needs)) return 1;
    if (g->travellers && best_journey(g, (found ? most : 0.0) + 1, &journey)) take_journey(g, &journey);
    else if (found) make_claim(g, &claim, plan);
    else return 0;
    return 1;
}

static int play_for(Game *g, const Plan *plan, const Needs *needs, int turns) {
    Claim claim;
    Walk journey;
    int seat = g->turn;
    if (g->travellers && best_journey(g, g->rules->w.journey_points, &journey)) {
        take_journey(g, &journey);
    } else if (best_claim(g, needs, turns, &claim)) {
        make_claim(g, &claim, plan);
    } else if (plan->loan_count && (!plan->size || turns <= plan->loan_count + g->rules->w.turns_to_spare)
               && build_station(g, plan, needs)) {
        g->plans[seat].is_made = 0;
    } else {
        return 0;
    }
    return 1;
}

static void play_without_cards(Game *g, const Needs *needs) {
    const Plan *plan = plan_of(g, g->turn, turns_left(g, g->turn));
    Claim claim;
    double most;
    int counts[MOST_DECKS];
    if (last_claim(g, plan, needs->bonuses, &most, &claim)) {
        make_claim(g, &claim, plan);
    } else if (next_tickets(g, counts)) {
        Ticket offer[MOST_TICKETS];
        int size = draw_tickets(g, counts, offer), kept[MOST_TICKETS], count = least(size, g->rules->least_kept);
        for (int i = 0; i < count; i++) kept[i] = i;
        keep_tickets(g, offer, size, kept, count);
        g->plans[g->turn].is_made = 0;
    } else if (g->rules->cards_asked) {
        request_cards(g);
    } else {
        g->passes++;
    }
}

static void play_turn(Game *g) {
    Needs needs;
    int turns = turns_left(g, g->turn);
    const Plan *plan = find_needs(g, turns, &needs);
    int is_played = turns <= 1 ? play_last(g, plan, &needs) : play_for(g, plan, &needs, turns);
    if (!(is_played || draw_cards(g, &needs))) play_without_cards(g, &needs);
    end_turn(g);
}

/* -- between Python and C --------------------------------------------------------------------------- */

/* A row of numbers, read from its start. What is out of range, or beyond the end, makes it `bad`. */
typedef struct { const int64_t *at, *end; int bad; } Row;

static int64_t next_number(Row *row, int64_t low, int64_t high) {
    if (row->at == row->end || *row->at < low || *row->at > high) {
        row->bad = 1;
        return low;
    }
    return *row->at++;
}

static int next(Row *row, int low, int high) { return (int)next_number(row, low, high); }
static int count_of(Row *row, int most) { return next(row, 0, most); }
static int next_int(Row *row) { return next(row, -1000000, 1000000); }

static void read_routes(Row *row, Rules *r) {
    for (int route = 0; route < r->routes && !row->bad; route++) {
        r->a[route] = next(row, 0, r->cities - 1);
        r->b[route] = next(row, 0, r->cities - 1);
        r->lengths[route] = next(row, 0, MOST_LENGTH);
        r->points[route] = count_of(row, 1000000);
        r->colours[route] = next(row, 0, ANY_COLOUR);
        r->ferries[route] = next(row, 0, 1000);
        r->spaces[route] = next(row, 0, MOST_LENGTH);
        r->is_tunnel[route] = next(row, 0, 1);
        r->name_a[route] = next(row, 0, MOST_NAMES - 1);
        r->name_b[route] = next(row, 0, MOST_NAMES - 1);
        r->parallel_count[route] = count_of(row, MOST_PARALLELS);
        for (int i = 0; i < r->parallel_count[route]; i++) r->parallels[route][i] = next(row, 0, r->routes - 1);
        r->has_ferries |= r->ferries[route] > 0;
    }
}

/* The sets of routes by city, and of parallel ones. Returns whether these name each other. */
static int find_sets(Rules *r) {
    r->words = (r->routes + 63) / 64;
    for (int route = 0; route < r->routes; route++) {
        r->exit_sets[r->a[route]].of[route >> 6] ^= UINT64_C(1) << (route & 63); /* not of a route to the city itself */
        r->exit_sets[r->b[route]].of[route >> 6] ^= UINT64_C(1) << (route & 63);
        for (int i = 0; i < r->parallel_count[route]; i++) add_to(r->parallel_sets[route].of, r->parallels[route][i]);
    }
    for (int route = 0; route < r->routes; route++)
        for (int i = 0; i < r->parallel_count[route]; i++)
            if (!is_in(r->parallel_sets[r->parallels[route][i]].of, route)) return 0;
    return 1;
}

static void find_between(Rules *r) {
    int16_t last[MOST_CITIES][MOST_CITIES];
    memset(r->between, -1, sizeof r->between);
    for (int route = 0; route < r->routes; route++) {
        int a = least(r->a[route], r->b[route]), b = greatest(r->a[route], r->b[route]);
        if (r->between[a][b] < 0) r->between[a][b] = r->between[b][a] = (int16_t)route;
        else r->next_between[last[a][b]] = (int16_t)route;
        r->first_between[route] = r->between[a][b];
        r->next_between[route] = -1;
        last[a][b] = (int16_t)route;
    }
    for (int route = 0; route < r->routes; route++) {
        int first = r->first_between[route], second = r->next_between[first];
        r->twins[route] = (int16_t)(second < 0 ? route : r->next_between[second] >= 0 ? -1 : first == route ? second : first);
    }
}

/* What fillers bring. Returns whether it is within bounds. */
static int value_fillers(Rules *r) {
    int is_good = r->longest_bonus >= 0;
    for (int ahead = -MOST_AHEAD; ahead <= MOST_AHEAD; ahead++)
        r->chances[MOST_AHEAD + ahead] = 1 / (1 + exp(-greatest_of(-50.0, least_of(50.0, ahead / r->w.trail_spread))));
    for (int missing = 1; missing <= MOST_LENGTH; missing++) r->half_over[missing] = 1 + 0.5 / missing;
    for (int cars = 0; cars <= MOST_CARS; cars++) r->turns[cars] = (int16_t)(1 + (int)(cars / r->w.cars_a_turn));
    for (int route = 0; route < r->routes; route++) r->tenth_points[route] = r->points[route] / 10.0;
    for (int missing = 0; missing <= MOST_LENGTH; missing++) r->shares[missing] = 2 * FULL_SHARE / (missing + 2);
    for (int colour = 0, slot = 0; colour <= ANY_COLOUR; r->slot_starts[++colour] = slot)
        for (int route = 0; route < r->routes; route++)
            if (r->colours[route] == colour) {
                r->slots[route] = slot;
                r->slot_lengths[slot] = r->lengths[route];
                r->slot_routes[slot++] = route;
            }
    for (int route = 0; route < r->routes; route++) {
        for (int side = 0; side < 2; side++) {
            double value = r->points[route] + side * (r->w.touch_bonus / 4 * r->lengths[route]);
            is_good &= value >= 0 && value + r->w.trail_share * 2 * r->longest_bonus < MOST_VALUE;
            r->filler_values[side][route] = (int)(value * FILLER_UNITS);
        }
    }
    return is_good;
}

static void read_rules(Row *row, Rules *r) {
    r->routes = next(row, 1, MOST_ROUTES);
    r->cities = next(row, 1, MOST_CITIES);
    r->kinds = next(row, WILD + 1, MOST_KINDS);
    r->seats = next(row, 1, MOST_SEATS);
    read_routes(row, r);
    for (int city = 0; city < r->cities; city++) r->has_countries |= r->is_country[city] = next(row, 0, 1);
    r->cards_asked = count_of(row, 1000);
    r->flushes = count_of(row, MOST_KINDS);
    for (int i = 0; i < r->flushes; i++) {
        r->flush_kinds[i] = next(row, 0, MOST_KINDS - 1);
        r->flush_counts[i] = next_int(row);
    }
    r->flush_most = next_int(row);
    r->tunnel_cards = count_of(row, 16);
    r->wild_if_long_least = next_int(row);
    r->closes_parallels = next(row, 0, 1);
    r->playing = next(row, 1, r->seats);
    for (int i = 0; i < r->playing; i++) r->order[i] = next(row, 0, r->seats - 1);
    for (int i = 0; i < r->playing; i++) r->next_seat[r->order[i]] = r->order[(i + 1) % r->playing];
    r->last_cars = count_of(row, MOST_CARS);
    r->last_turns = next_int(row);
    r->decks = count_of(row, MOST_DECKS);
    for (int deck = 0; deck < r->decks; deck++) r->tickets_drawn[deck] = count_of(row, MOST_TICKETS / MOST_DECKS);
    r->tickets_named = count_of(row, MOST_TICKETS);
    r->least_kept = next_int(row);
    r->stations = count_of(row, MOST_COSTS);
    for (int i = 0; i < r->stations; i++) r->station_costs[i] = next_int(row);
    r->station_points = next_int(row);
    r->scoring_count = count_of(row, r->seats);
    for (int i = 0; i < r->scoring_count; i++) r->scoring[i] = next(row, 0, r->seats - 1);
    r->longest_bonus = next_int(row);
    r->is_path = next(row, 0, 1);
    r->most_tickets_bonus = next_int(row);
}

static Ticket next_ticket(Row *row, const Rules *r) {
    Ticket ticket;
    ticket.a = (int16_t)next(row, 0, r->cities - 1);
    ticket.b = (int16_t)next(row, 0, r->cities - 1);
    ticket.points = (int16_t)next(row, -10000, 10000);
    ticket.deck = (int16_t)next(row, 0, r->decks ? r->decks - 1 : 0);
    return ticket;
}

static void read_cards(Row *row, Game *g) {
    const Rules *r = g->rules;
    for (int seat = 0; seat < r->seats; seat++)
        for (int kind = 0; kind < r->kinds; kind++) g->hands[seat][kind] = next_int(row);
    for (int kind = 0; kind < r->kinds; kind++) g->deck_size += g->deck[kind] = count_of(row, 100000);
    for (int kind = 0; kind < r->kinds; kind++) g->discard_size += g->discards[kind] = count_of(row, 100000);
    for (int drawer = 0; drawer < MARKET + 2 * r->seats; drawer++) g->drawn[drawer] = count_of(row, 1000000);
    g->slots = count_of(row, MARKET);
    for (int slot = 0; slot < g->slots; slot++) g->market[slot] = next(row, NO_CARD, r->kinds - 1);
    g->revealed_count = count_of(row, 16);
    for (int i = 0; i < g->revealed_count; i++) g->revealed[i] = next(row, 0, r->kinds - 1);
}

static void read_tickets(Row *row, Game *g) {
    const Rules *r = g->rules;
    for (int seat = 0; seat < r->seats; seat++) {
        g->ticket_count[seat] = count_of(row, MOST_TICKETS);
        for (int i = 0; i < g->ticket_count[seat]; i++) g->tickets[seat][i] = next_ticket(row, r);
    }
    for (int deck = 0; deck < r->decks; deck++) {
        g->deck_tickets[deck] = count_of(row, MOST_IN_DECK);
        for (int i = 0; i < g->deck_tickets[deck]; i++) g->ticket_decks[deck][i] = next_ticket(row, r);
    }
}

static void read_passengers(Row *row, Game *g) {
    const Rules *r = g->rules;
    for (int seat = 0; seat < r->seats; seat++) g->passengers_left[seat] = count_of(row, 1000);
    g->travellers = count_of(row, MOST_CITIES);
    for (int i = 0; i < g->travellers; i++) {
        g->traveller_city[i] = next(row, 0, r->cities - 1);
        g->traveller_owner[i] = next(row, 0, r->seats - 1);
    }
    for (int city = 0; city < r->cities; city++) g->token_count[city] = -1;
    for (int i = count_of(row, r->cities); i > 0 && !row->bad; i--) {
        int city = next(row, 0, r->cities - 1);
        g->token_count[city] = count_of(row, MOST_TOKENS);
        for (int j = 0; j < g->token_count[city]; j++) g->tokens[city][j] = next_int(row);
    }
}

static void read_game(Row *row, Game *g) {
    const Rules *r = g->rules;
    g->seed = (uint64_t)next_number(row, INT64_MIN, INT64_MAX);
    g->turn = next(row, 0, r->seats - 1);
    g->last_turns = next(row, NOT_YET, 1000);
    g->passes = count_of(row, 1000);
    g->is_over = next(row, 0, 1);
    for (int seat = 0; seat < r->seats; seat++) g->cars[seat] = next(row, -MOST_CARS, MOST_CARS);
    for (int seat = 0; seat < r->seats; seat++) g->points[seat] = next_int(row);
    read_cards(row, g);
    for (int route = 0; route < r->routes; route++)
        if ((g->owners[route] = (int8_t)next(row, CLOSED, r->seats - 1)) == FREE) add_to(g->free.of, route);
    for (int seat = 0; seat < r->seats; seat++) {
        g->claimed += g->held[seat] = count_of(row, MOST_HELD);
        for (int i = 0; i < g->held[seat]; i++) {
            g->held_routes[seat][i] = (int16_t)next(row, 0, r->routes - 1);
            note_claimed(g, seat, g->held_routes[seat][i]);
        }
    }
    read_tickets(row, g);
    for (int seat = 0; seat < r->seats; seat++) {
        g->station_count[seat] = count_of(row, MOST_COSTS);
        for (int i = 0; i < g->station_count[seat]; i++) {
            g->station_city[seat][i] = next(row, 0, r->cities - 1);
            g->station_neighbour[seat][i] = next(row, NOWHERE, r->cities - 1);
        }
    }
    read_passengers(row, g);
}

static void read_payment(Row *row, const Rules *r, Payment *payment) {
    payment->size = count_of(row, 4);
    for (int i = 0; i < payment->size; i++) {
        payment->of[i].kind = next(row, 0, r->kinds - 1);
        payment->of[i].count = next_int(row);
    }
}

/* Carry out the first move, which the rules allow. */
static void play_move(Row *row, Game *g) {
    const Rules *r = g->rules;
    Payment payment = {0};
    Ticket offer[MOST_TICKETS];
    int numbers[MOST_ROUTES], size, first, second;
    switch (next(row, NO_MOVE, IDLE)) {
    case KEEP:
        size = count_of(row, MOST_TICKETS);
        for (int i = 0; i < size; i++) offer[i] = next_ticket(row, r);
        first = count_of(row, size);
        for (int i = 0; i < first; i++) numbers[i] = next(row, 0, size - 1);
        if (!row->bad) keep_tickets(g, offer, size, numbers, first);
        return;
    case CLAIM:
        first = next(row, 0, r->routes - 1);
        second = next(row, NOWHERE, r->cities - 1);
        read_payment(row, r, &payment);
        if (!row->bad && payment.size) claim_for(g, first, &payment, second);
        return;
    case PAY_TUNNEL:
        first = next(row, 0, r->routes - 1);
        read_payment(row, r, &payment);
        if (!row->bad) claim_route(g, first, &payment, NOWHERE);
        return;
    case STATION:
        first = next(row, 0, r->cities - 1);
        second = next(row, NOWHERE, r->cities - 1);
        read_payment(row, r, &payment);
        if (!row->bad) build_station_at(g, first, &payment, second);
        return;
    case PASSENGER:
        first = next(row, 0, r->cities - 1);
        size = count_of(row, MOST_ROUTES);
        for (int i = 0; i < size; i++) numbers[i] = next(row, 0, r->routes - 1);
        if (!row->bad) move_passenger(g, first, numbers, size);
        return;
    case TICKETS:
        size = count_of(row, r->decks);
        for (int i = 0; i < size; i++) numbers[i] = count_of(row, MOST_TICKETS / MOST_DECKS);
        if (!size) next_tickets(g, numbers);
        if (!row->bad) take_tickets(g, numbers);
        return;
    case BLIND:
        draw_blind(g);
        draw_second_card(g);
        return;
    case OPEN_CARD:
        first = next(row, 0, g->slots - 1);
        if (!row->bad && g->market[first] != NO_CARD && draw_market(g, first) != WILD) draw_second_card(g);
        return;
    case REQUEST:
        request_cards(g);
        return;
    case IDLE:
        g->passes += next(row, 0, 1);
    }
}

static const char *const CAPSULE = "rollout rules";

static void free_rules(PyObject *capsule) { free(PyCapsule_GetPointer(capsule, CAPSULE)); }

static int as_row(const Py_buffer *buffer, Row *row) {
    *row = (Row){buffer->buf, (const int64_t *)buffer->buf + buffer->len / 8, 0};
    return buffer->len % 8 == 0;
}

static PyObject *prepare(PyObject *Py_UNUSED(self), PyObject *arguments) {
    Py_buffer numbers, reals;
    Row row;
    if (!PyArg_ParseTuple(arguments, "y*y*", &numbers, &reals)) return NULL;
    Rules *r = calloc(1, sizeof *r);
    PyObject *prepared = NULL;
    if (!r) {
        PyErr_NoMemory();
    } else {
        row.bad = !as_row(&numbers, &row);
        read_rules(&row, r);
        size_t weights = sizeof(Weights), shares = sizeof(double) * (size_t)r->kinds;
        size_t costs = sizeof(double) * (size_t)r->routes;
        if (row.bad || row.at != row.end || (size_t)reals.len != sizeof(double) + weights + shares + costs || !find_sets(r)) {
            free(r);
            prepared = Py_NewRef(Py_None);
        } else {
            const double *from = reals.buf;
            r->car_value = *from;
            memcpy(&r->w, from + 1, weights);
            memcpy(r->card_shares, (const char *)(from + 1) + weights, shares);
            memcpy(r->claim_costs, (const char *)(from + 1) + weights + shares, costs);
            find_between(r);
            if (value_fillers(r)) {
                prepared = PyCapsule_New(r, CAPSULE, free_rules);
            } else {
                free(r);
                prepared = Py_NewRef(Py_None);
            }
        }
    }
    PyBuffer_Release(&numbers);
    PyBuffer_Release(&reals);
    return prepared;
}

static PyObject *points_of(const Game *g, const int *totals) {
    PyObject *points = PyList_New(g->rules->seats);
    for (int seat = 0; points && seat < g->rules->seats; seat++) {
        PyObject *each = PyLong_FromLong(totals[seat]);
        if (!each) {
            Py_CLEAR(points);
        } else {
            PyList_SET_ITEM(points, seat, each);
        }
    }
    return points;
}

static PyObject *play(PyObject *Py_UNUSED(self), PyObject *arguments) {
    PyObject *capsule;
    Py_buffer world, move;
    Row row, move_row;
    Game game; /* of some 50 KiB; what isn't read below is never looked at */
    int totals[MOST_SEATS], moves;
    if (!PyArg_ParseTuple(arguments, "Oy*y*", &capsule, &world, &move)) return NULL;
    const Rules *r = PyCapsule_GetPointer(capsule, CAPSULE);
    PyObject *points = NULL;
    if (r) {
        memset(&game, 0, offsetof(Game, plans));
        for (int seat = 0; seat < r->seats; seat++) game.plans[seat].is_made = game.fillers[seat].is_made = game.forests[seat].is_made = 0;
        game.rules = r;
        game.version = game.costs.size = 0;
        int is_bad = !as_row(&world, &row) | !as_row(&move, &move_row);
        read_game(&row, &game);
        moves = next(&move_row, 0, 1); /* whether a turn ends with the move */
        int acting = game.turn, seat = next(&move_row, -1, r->seats - 1);
        if (is_bad || row.bad || row.at != row.end || move_row.bad) {
            points = Py_NewRef(Py_None);
        } else {
            if (seat >= 0) {
                game.turn = seat;
                play_move(&move_row, &game);
                if (moves) end_turn(&game);
                else game.turn = acting;
            }
            for (int turn = 0; turn < MAX_TURNS && !game.is_over && !game.is_declined; turn++) play_turn(&game);
            if (!game.is_declined && !move_row.bad) final_points(&game, totals);
            points = game.is_declined || move_row.bad ? Py_NewRef(Py_None) : points_of(&game, totals);
        }
    }
    PyBuffer_Release(&world);
    PyBuffer_Release(&move);
    return points;
}

static PyMethodDef methods[] = {
    {"prepare", prepare, METH_VARARGS, "The rules of a game, for `play`; None if they are beyond this form."},
    {"play", play, METH_VARARGS, "Every seat's points at the end of a rollout; None if it is beyond this form."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "rollout_engine", .m_size = 0, .m_methods = methods};

PyMODINIT_FUNC PyInit_rollout_engine(void) { return PyModule_Create(&module); }

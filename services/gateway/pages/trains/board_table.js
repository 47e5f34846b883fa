// @ts-check
// The table of a train game: its board, market, hand and tickets, put together for the page that has all else.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { ask } from "../api/api.js";
import { myGame } from "../api/my_games.js";
import { ACTIONS_MARK, MOVES_MARK, RULES, SEATS, TURN_MARK } from "../guide/page_marks.js";
import { root } from "../shared/frame.js";
import { plural } from "../shared/words.js";
import { earlyReading } from "../table/following.js";
import { hinted } from "../table/hint.js";
import { game, offersOf } from "../table/table_state.js";
import { animate } from "./animation.js";
import { boardActions, handView, marketView, paymentView } from "./board_actions.js";
import {
  chooseInCity,
  chooseOffer,
  chooseOnRoutes,
  cityOf,
  pointAtCommand,
  pointedBy,
  pointedByCommand,
  shown,
} from "./board_state.js";
import { boardKey, boardView } from "./board_view.js";
import { endingView, isShowing, shownAtEnd, watchEnd } from "./finale.js";
import { openTextBoard } from "./text_board.js";
import { ticketsView } from "./ticket_view.js";
import { moveByKey, zoomBy } from "./viewport.js";

/** @import { SeatResult, SeatState, SeatView, TableState } from "../api/openapi.js" */
/** @import { Drawing, Mark } from "../table/drawing.js" */
/** @import { TablePage } from "../table/table_state.js" */

const ZOOMS = [
  ["+", "+", "Zoom in"],
  ["-", "−", "Zoom out"],
  ["0", "⤢", "All of the board"],
];

/** What lies on the board, and what may be done there. @param {TablePage<TableState>} page */
function boardModel(page) {
  const { table, latest, replay, marks } = page;
  const ended = table.result?.flatMap(({ made, missed }) => [...made, ...missed]) ?? [];
  const pinned = [...table.tickets, ...table.offer, ...ended].find((ticket) => ticket.id === shown.pinned);
  const hint = hinted(page);
  const pointed =
    shown.pointed ?? (hint ? pointedByCommand(hint) : pinned ? pointedBy(pinned) : shownAtEnd(page));
  const claims = replay ? [] : offersOf(latest, "claim_route");
  return {
    table,
    newRoutes: marks,
    legalRoutes: new Set(claims.map((offer) => offer.command.route)),
    legalCities: new Set(replay ? [] : latest.legal?.map((offer) => cityOf(offer.command))),
    pointedRoutes: new Set(pointed?.routes),
    pointedCities: new Set(pointed?.cities),
    onRoutes: chooseOnRoutes,
    onCity: chooseInCity,
  };
}

/** @param {TablePage<TableState>} page */
const boardFrame = (page) =>
  html`<div class="board-frame" tabindex="0" role="group" aria-label="Board: + and - zoom, arrows move" @keydown=${(/** @type {never} */ event) => moveByKey(event, shown.board)}>${boardView(shown.board, boardModel(page))}
    <div class="zooms"><button type="button" aria-keyshortcuts="w" title="The board in words" aria-label="The board in words" @click=${openTextBoard}>☰</button>${ZOOMS.map(([key, sign, name]) => html`<button type="button" title=${name} aria-label=${name} @click=${(/** @type {{ currentTarget: Element }} */ { currentTarget }) => zoomBy(/** @type {Element} */ (currentTarget.closest(".board-frame")), shown.board, key)}>${sign}</button>`)}</div></div>`;

/** @param {TablePage<TableState>} page */
const trayView = (page) =>
  html`<div class="tray">
    <section class="panel market-panel" aria-labelledby="market-title"><h2 id="market-title">Market</h2>${marketView(page)}</section>
    ${handView(page)}</div>`;

/** @param {TableState} table */
const stocks = ({ discards, ticket_decks }) => {
  const decks = Object.entries(ticket_decks).map(([deck, count]) => `${count} ${deck}`);
  return html`<p class="facts">${plural(discards, "discard")} · tickets: ${decks.join(", ") || "none"}</p>`;
};

/** @param {TablePage<TableState>} page */
const besideView = (page) =>
  html`${page.table.result ? endingView(page, page.table.result) : ticketsView(page)}${page.table.status === "waiting" ? nothing : stocks(page.table)}${boardKey(shown.board)}`;

/** @param {TableState} _ @param {SeatState} seat */
function seatFacts(_, seat) {
  const { cars, cards, tickets, stations_left, passengers_left } = /** @type {SeatView} */ (seat);
  return [
    plural(cars, "car"),
    plural(cards, "card"),
    plural(tickets, "ticket"),
    ...(stations_left ? [plural(stations_left, "station")] : []),
    ...(passengers_left ? [plural(passengers_left, "passenger")] : []),
  ].join(" · ");
}

const SCORE = /** @type {const} */ ([
  ["routes", "Routes"],
  ["tickets", "Tickets"],
  ["bonus", "Longest"],
  ["most", "Most tickets"],
  ["stations", "Stations"],
  ["merchandise", "Goods"],
]);
/** @type {[string, string][]} */
const BONUSES = [
  ["longest_bonus", "the longest trail"],
  ["most_tickets_bonus", "most tickets made"],
  ["station_points", "each station not built"],
];

/** Points by the length of a route, and the bonuses. @param {Record<string, unknown>} parameters */
function pointsTable(parameters) {
  const points = /** @type {(number | null)[]} */ (parameters.route_points ?? []);
  const lengths = points.flatMap((each, shorter) => (each === null ? [] : [[shorter + 1, each]]));
  if (!lengths.length) return nothing;
  const bonuses = BONUSES.filter(([option]) => parameters[option]);
  return html`<div class="scroll points-table" tabindex="0" role="group" aria-label="Points by length"><table><thead><tr><th scope="row">Spaces</th>${lengths.map(([length]) => html`<th scope="col">${length}</th>`)}</tr></thead>
    <tbody><tr><th scope="row">Points</th>${lengths.map(([, each]) => html`<td>${each}</td>`)}</tr></tbody></table></div>
    ${bonuses.map(([option, what]) => html`<p class="note">${plural(Number(parameters[option]), "point")} for ${what}</p>`)}`;
}

/** @type {readonly Mark[]} */
const MARKS = [
  [
    ".offer, .tickets",
    "Your tickets: join the two cities of each by your own routes. A ticket that isn't made costs its points.",
  ],
  [".hand", "Your cards. A route is paid with as many cards of its colour as it has spaces."],
  [".market", "Cards lie open here. Take what your routes need; the deck gives you one unseen."],
  ["svg.board", "A route that you can pay for stands out on the board. Click it to claim it."],
  ["svg.board", "Gray routes take any one colour, and a locomotive stands for every colour."],
  [
    RULES,
    "Points by length: one long route is worth more than several short ones. R shows the table, and the rules.",
  ],
  ACTIONS_MARK,
  TURN_MARK,
  [SEATS, "Watch the cars: when somebody has hardly any left, the last turns begin."],
  MOVES_MARK,
];

/** @type {Drawing<TableState>} */
export const boardTable = {
  words: {
    drawer: "Tickets",
    choices: {
      action: "takes a turn",
      "second card": "draws a second card",
      tickets: "chooses tickets",
      mix: "says which tickets it wants",
      tunnel: "pays for a tunnel or leaves it",
    },
    keys: {
      draw_blind: "d",
      claim_route: "c",
      draw_tickets: "t",
      build_station: "b",
      move_passenger: "p",
      pay_tunnel: "y",
      decline_tunnel: "n",
      request_cards: "q",
      pass: "x",
    },
    marks: MARKS,
  },
  draws: (table) => "routes" in table,
  load: async () => {
    const { token } = myGame(game); // the reading may have found another one
    const begun = earlyReading()?.board;
    shown.board = await ask("GET /games/{game}/board", { path: { game }, token, begun });
  },
  name: () => shown.board.title,
  layout: () => (shown.board.height > 1.1 * shown.board.width ? "tall" : "wide"),
  middle: boardFrame,
  own: (page) => (page.table.status === "waiting" ? nothing : trayView(page)),
  actions: boardActions,
  beside: besideView,
  seatFacts,
  scoreParts: (row) => SCORE.map(([key, name]) => [name, /** @type {SeatResult} */ (row)[key]]),
  pointsTable,
  offer: paymentView,
  point: pointAtCommand,
  arrived: chooseOffer,
  drawn: (before, page) => {
    if (before && before !== page.table && "routes" in before) animate(before, page.table, root);
    watchEnd();
  },
  isEnding: isShowing,
};

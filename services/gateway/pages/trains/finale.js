// @ts-check
// The end of a train game as a show: tickets are turned over one by one, the longest trail is drawn, all hands are opened.
// A press anywhere shows the rest at once.
import { html } from "../vendor/lit-html/lit-html.js";
import { myGame } from "../api/my_games.js";
import { root, seatBadge, when } from "../shared/frame.js";
import { plural, seatName } from "../shared/words.js";
import { readTable } from "../table/following.js";
import { isStill } from "../table/pacing.js";
import { game, page as shownPage } from "../table/table_state.js";
import { show, shown } from "./board_state.js";
import { downTicket, ticketRow } from "./ticket_view.js";
import { cards } from "./train_marks.js";

/** @import { SeatResult, TableState, TicketState } from "../api/openapi.js" */
/** @import { TablePage } from "../table/table_state.js" */
/** @import { Pointed } from "./board_state.js" */

const STEP_MS = 700; // of a ticket
const MOST_MS = 12_000; // of all

/** @type {number | undefined} */
let timer;
/** @type {boolean | undefined} */
let wasPlayed; // what was shown last, or what this browser has shown at another time

/** The end is here: what nobody saw before is turned over from now on. */
export function watchEnd() {
  const { latest, table, replay } = shownPage;
  if (replay || table !== latest || !("routes" in table)) return;
  wasPlayed ??= (myGame(game).seen ?? latest.number) < latest.number;
  const isNew = wasPlayed && table.status === "over";
  wasPlayed = table.status === "playing";
  if (table.status === "over" && !shown.hands) readHands().catch(() => {}); // without them the cards stay down
  if (isNew && !isStill()) playFinale();
}

/** What all seats held at the end, which each of them saw. */
async function readHands() {
  show({ hands: new Map() });
  const { seats, number } = shownPage.latest;
  const at = String(number);
  const tables = await Promise.all(seats.map(({ seat }) => readTable({ at, as: String(seat) })));
  const hands = tables.map(
    (table, seat) => /** @type {const} */ ([seat, ("hand" in table && table.hand) || {}]),
  );
  show({ hands: new Map(hands) });
}

/** A ticket to be turned over, or a trail to be drawn. @typedef {{ ticket?: TicketState, trail?: string[] }} Step */

/** What is shown, one after the other. @param {SeatResult[]} result @returns {Step[]} */
const stepsOf = (result) => [
  ...result.flatMap(({ made, missed }) => [...made, ...missed].map((ticket) => ({ ticket }))),
  ...result.filter(({ trail }) => trail.length).map(({ trail }) => ({ trail })),
];

/** Show the end, from its beginning. */
function playFinale() {
  const { result } = /** @type {TableState} */ (shownPage.latest);
  const steps = stepsOf(result ?? []).length;
  show({ finale: 0 });
  clearTimeout(timer);
  const step = () => {
    if (shown.finale === null) return;
    show({ finale: shown.finale < steps ? shown.finale + 1 : null });
    const next = root.querySelector(".seats-at-end .ticket.down") ?? root.querySelector(".result");
    next?.scrollIntoView({ block: "nearest" });
    timer = setTimeout(step, Math.min(STEP_MS, MOST_MS / steps));
  };
  timer = setTimeout(step, STEP_MS);
}

/** Show the rest at once, unless that is what the button is pressed for. @param {PointerEvent} event */
function skip({ target }) {
  const isSkipped = target instanceof Element && target.closest(".ending > button");
  if (shown.finale !== null && !isSkipped) show({ finale: null });
}
addEventListener("pointerdown", skip, { capture: true });

/** What the show has on the board: the ends of the last ticket, or the trail; at last all trails. @param {TablePage<TableState>} page @returns {Pointed | undefined} */
export function shownAtEnd({ table }) {
  const { finale } = shown;
  if (!table.result) return undefined;
  const steps = stepsOf(table.result);
  if (finale === null || finale >= steps.length)
    return { routes: steps.flatMap(({ trail = [] }) => trail), cities: [] };
  const { ticket, trail = [] } = steps[finale - 1] ?? {};
  return { routes: trail, cities: ticket ? [ticket.a, ticket.b] : [] };
}

/** The points of a seat as far as they are shown. @param {SeatResult} row @param {Set<unknown>} open */
function pointsOf(row, open) {
  const { routes, stations, merchandise, made, missed, trail, tickets, bonus, most } = row;
  const isLast = [...made, ...missed].every((ticket) => open.has(ticket));
  /** @param {TicketState[]} of */
  const sum = (of) => of.reduce((all, ticket) => all + (open.has(ticket) ? ticket.points : 0), 0);
  const counted = isLast ? tickets + most : sum(made) - sum(missed);
  return routes + stations + merchandise + counted + (!trail.length || open.has(trail) ? bonus : 0);
}

/** All seats' tickets and hands. @param {TablePage<TableState>} page @param {SeatResult[]} result */
export function endingView(page, result) {
  const { table } = page;
  const { finale, hands } = shown;
  const steps = stepsOf(result);
  const open = new Set(steps.slice(0, finale ?? steps.length).map(({ ticket, trail }) => ticket ?? trail));
  /** @param {SeatResult} row */
  const seatView = (row) => {
    const hand = finale === null ? hands?.get(row.seat) : undefined;
    return html`<li><h3>${seatBadge(row.seat)} ${seatName(table.seats[row.seat])} <b>${plural(pointsOf(row, open), "point")}</b></h3>
      ${when(row.trail.length && open.has(row.trail), () => html`<p class="note">The longest trail: ${plural(row.longest, "space")}, +${row.bonus}</p>`)}
      <ul class="tickets">${[...row.made, ...row.missed].map((ticket) => (open.has(ticket) ? ticketRow(page, ticket) : downTicket))}</ul>
      ${when(hand, (held) => html`<div class="held">${Object.keys(held).length ? cards(held) : html`<span class="note">No cards left</span>`}</div>`)}</li>`;
  };
  return html`<section class="panel ending" aria-labelledby="ending-title"><h2 id="ending-title">${finale === null ? "All tickets and hands" : "The tickets are turned over"}</h2>
    <button type="button" class="quiet" @click=${() => (finale === null ? playFinale() : show({ finale: null }))}>${finale === null ? "Show it again" : "Skip"}</button>
    <ul class="seats-at-end">${result.toSorted((a, b) => a.seat - b.seat).map(seatView)}</ul></section>`;
}

/** Whether the show goes on: the scores come after it. @param {TablePage} page */
export const isShowing = ({ replay }) => shown.finale !== null && !replay;

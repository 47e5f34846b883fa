// @ts-check
// Who plays: cars, cards, tickets, points, clocks, whose turn it is, and the result.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { cards, seatBadge } from "../board/marks.js";
import { when } from "../shared/frame.js";
import { plural, seatName, timeLeft, upperFirst } from "../shared/words.js";
import { pointAtNothing, pointAtTicket, togglePin } from "./choosing.js";
import { seatFacts } from "./part_view.js";
import { startReplay } from "./replay.js";
import { owner, ticketName } from "./table_state.js";

/** @import { PartsResult, SeatResult, SeatState, SeatView, TableState, TicketState } from "../api/openapi.js" */
/** @import { AnyTable, TablePage } from "./table_state.js" */

/** @type {Record<string, string>} */
const GONE = { left: "left the game", "out of time": "ran out of time", removed: "was removed" };

/** @type {Record<string, string>} */
const CHOICES = {
  action: "takes a turn",
  "second card": "draws a second card",
  tickets: "chooses tickets",
  mix: "says which tickets it wants",
  tunnel: "pays for a tunnel or leaves it",
};

/**
 * What is left of a seat's time: counted from the last entry, by what passed since.
 * @param {TablePage} page
 * @param {SeatState} seat
 */
function clock({ table, readAt, replay }, seat) {
  const passed = replay ? 0 : table.age_ms + performance.now() - readAt;
  const runs = seat.choice !== null;
  const left = [];
  if (seat.clock_ms !== null) left.push(seat.clock_ms - (runs ? passed : 0));
  if (runs && seat.deadline_ms !== null) left.push(seat.deadline_ms - table.at - passed);
  if (!left.length) return nothing;
  const ms = Math.min(...left);
  return html`<span class="clock ${ms < 60000 && runs ? "short" : ""}" title="time left">${timeLeft(ms)}</span>`;
}

/** What a seat does, or why it does no more. @param {SeatState} seat */
const doing = ({ gone, choice }) => (gone ? (GONE[gone] ?? gone) : choice && (CHOICES[choice] ?? choice));

/** @param {SeatView} seat */
const stock = (seat) =>
  [
    plural(seat.cars, "car"),
    plural(seat.cards, "card"),
    plural(seat.tickets, "ticket"),
    ...(seat.stations_left ? [plural(seat.stations_left, "station")] : []),
    ...(seat.passengers_left ? [plural(seat.passengers_left, "passenger")] : []),
  ].join(" · ");

/** @param {number} points */
const pointsView = (points) =>
  html`<span class="points"><b>${points}</b><span class="unit">${points === 1 ? "point" : "points"}</span></span>`;

/** @param {TablePage} page @param {SeatState | SeatView} seat */
const seatRow = (page, seat) =>
  html`<li data-seat=${seat.seat} class="seat ${seat.choice === null ? "" : "acts"} ${seat.gone ? "gone" : ""}">
    ${seatBadge(seat.seat)}
    <div class="who"><span class="name">${seatName(seat)}</span>${when(page.latest.viewer === seat.seat, () => html`<span class="you">you</span>`)}${when(seat.kind === "bot", () => html`<span class="bot">bot</span>`)}
      ${when(doing(seat), (text) => html`<span class="doing">${text}</span>`)}</div>
    ${clock(page, seat)}
    ${"points" in seat ? pointsView(seat.points) : nothing}
    <span class="facts">${"cars" in seat ? stock(seat) : "parts" in page.table ? seatFacts(page.table, seat.seat) : nothing}</span>
  </li>`;

/** All seats, in turn order. @param {TablePage} page */
export function seatsView(page) {
  const { table } = page;
  const order = table.turn_order.length ? table.turn_order : table.seats.map((seat) => seat.seat);
  const isEnding = "last_turns" in table && table.last_turns && table.status === "playing";
  return html`<section class="panel seats-panel" tabindex="0" aria-labelledby="seats-title"><h2 id="seats-title">Seats</h2>
    ${when(isEnding, () => html`<p class="notice">The last turns are being played.</p>`)}
    ${when(
      table.bots_late,
      () => html`<p class="notice">Its bots wait for time to think: tables that used less come first.</p>`,
    )}
    <ol class="seats">${order.map((seat) => seatRow(page, table.seats[seat]))}</ol></section>`;
}

/** The viewer's own cards. @param {TablePage<TableState>} page */
export function handView(page) {
  const { hand } = page.table;
  if (hand === null) return nothing;
  return html`<section class="panel hand" aria-labelledby="hand-title"><h2 id="hand-title" tabindex="-1" aria-keyshortcuts="h">${owner(page)} cards</h2>
    <div class="cards">${Object.keys(hand).length ? cards(hand) : html`<p class="empty">None yet.</p>`}</div></section>`;
}

/** @param {TablePage<TableState>} page @param {TicketState} ticket */
function ticketRow({ board, table, pinnedTicket }, ticket) {
  const lost = table.status === "over" ? "missed" : "cut off";
  const state = ticket.made ? "made" : ticket.open ? "open" : lost;
  const point = () => pointAtTicket(ticket);
  return html`<li><button type="button" class="ticket bare ${state.replace(" ", "-")}" aria-pressed=${pinnedTicket === ticket.id}
    @mouseenter=${point} @mouseleave=${pointAtNothing} @focus=${point} @blur=${pointAtNothing}
    @click=${() => togglePin(ticket)}>
    <span class="ends">${ticketName(board, ticket)}</span>
    <span class="state">${state}${state === "open" ? `, ${plural(ticket.way.length, "route")} to go` : ""}</span><b>${ticket.points}</b></button></li>`;
}

/**
 * The viewer's own tickets; one that is pointed at shows its ends and the shortest way that is open.
 * @param {TablePage<TableState>} page
 */
export function ticketsView(page) {
  const { hand, tickets } = page.table;
  if (hand === null || !tickets.length) return nothing;
  return html`<section class="panel tickets-panel" aria-labelledby="tickets-title"><h2 id="tickets-title">${owner(page)} tickets</h2>
    <ul class="tickets">${tickets.map((ticket) => ticketRow(page, ticket))}</ul></section>`;
}

const COLUMNS = /** @type {const} */ ([
  ["routes", "Routes"],
  ["tickets", "Tickets"],
  ["bonus", "Longest"],
  ["most", "Most tickets"],
  ["stations", "Stations"],
  ["merchandise", "Goods"],
]);

/**
 * What a total is made of, each part by its heading.
 * @param {SeatResult | PartsResult} row
 * @returns {[string, number][]}
 */
const partsOf = (row) =>
  "parts" in row
    ? Object.entries(row.parts).map(([name, points]) => [upperFirst(name.replaceAll("_", " ")), points])
    : COLUMNS.map(([key, name]) => [name, row[key]]);

/** The final scores. @param {AnyTable} table @param {(SeatResult | PartsResult)[]} result */
export function resultView({ game, seats, ended, play_off }, result) {
  const rows = result.toSorted((a, b) => a.place - b.place);
  const parts = new Map(rows.map((row) => [row.seat, new Map(partsOf(row))]));
  const columns = partsOf(rows[0])
    .map(([name]) => name)
    .filter((name) => rows.some((row) => parts.get(row.seat)?.get(name)));
  const winners = rows.filter((row) => row.place === 1).map((row) => seatName(seats[row.seat]));
  return html`<section class="panel result" aria-labelledby="result-title"><h2 id="result-title">${winners.join(" and ")} ${winners.length > 1 ? "share the first place" : "wins"}</h2>
    <div class="scroll" tabindex="0" role="group" aria-label="Final scores"><table><thead><tr><th scope="col">Seat</th><th scope="col">Total</th>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${rows.map(
      (row) =>
        html`<tr><th scope="row">${seatBadge(row.seat)} ${seatName(seats[row.seat])}</th>
      <td><b>${row.total}</b></td>${columns.map((name) => html`<td>${parts.get(row.seat)?.get(name)}</td>`)}</tr>`,
    )}</tbody></table></div>
    <p>The game is over: ${ended}.${when(play_off, (next) => html` <a href="/table/${next}">A play-off follows.</a>`)}</p>
    <p class="links"><button type="button" class="primary" @click=${() => startReplay(1)}>Watch it again</button> <a class="button" href="/audit/${game}">Check its proof</a></p></section>`;
}

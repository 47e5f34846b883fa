// @ts-check
// Who plays: what each has, points, clocks, whose turn it is, and the result.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { startReplay } from "../review/replay.js";
import { seatBadge, when } from "../shared/frame.js";
import { seatName, timeLeft } from "../shared/words.js";

/** @import { PartsResult, SeatResult, SeatState, SeatView } from "../api/openapi.js" */
/** @import { TablePage } from "./table_state.js" */

/** @type {Record<string, string>} */
const GONE = { left: "left the game", "out of time": "ran out of time", removed: "was removed" };

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

/** What a seat does, or why it does no more. @param {TablePage} page @param {SeatState} seat */
const doing = ({ drawing }, { gone, choice }) =>
  gone ? (GONE[gone] ?? gone) : choice && (drawing.words.choices[choice] ?? choice);

/** @param {number} points */
const pointsView = (points) =>
  html`<span class="points"><b>${points}</b><span class="unit">${points === 1 ? "point" : "points"}</span></span>`;

/** @param {TablePage} page @param {SeatState | SeatView} seat */
const seatRow = (page, seat) =>
  html`<li data-seat=${seat.seat} class="seat ${seat.choice === null ? "" : "acts"} ${seat.gone ? "gone" : ""}">
    ${seatBadge(seat.seat)}
    <div class="who"><span class="name">${seatName(seat)}</span>${when(page.latest.viewer === seat.seat, () => html`<span class="you">you</span>`)}${when(seat.kind === "bot", () => html`<span class="bot">bot</span>`)}
      ${when(doing(page, seat), (text) => html`<span class="doing">${text}</span>`)}</div>
    ${clock(page, seat)}
    ${"points" in seat ? pointsView(seat.points) : nothing}
    <span class="facts">${page.drawing.seatFacts(page.table, seat)}</span>
  </li>`;

/** All seats, in turn order. @param {TablePage} page */
export function seatsView(page) {
  const { table } = page;
  const order = table.turn_order.length ? table.turn_order : table.seats.map((seat) => seat.seat);
  const isEnding = "last_turns" in table && table.last_turns && table.status === "playing";
  const count = table.viewer === "public" ? 0 : page.watching;
  const watching = count ? `${count} ${count === 1 ? "watches" : "watch"} here` : ""; // at this server: each counts its own
  return html`<section class="panel seats-panel" tabindex="0" aria-labelledby="seats-title"><h2 id="seats-title">Seats${watching && html` <span class="watchers note">${watching}</span>`}</h2>
    ${when(isEnding, () => html`<p class="notice">The last turns are being played.</p>`)}
    ${when(
      table.bots_late,
      () => html`<p class="notice">Its bots wait for time to think: tables that used less come first.</p>`,
    )}
    <ol class="seats">${order.map((seat) => seatRow(page, table.seats[seat]))}${watching && html`<li class="watchers note">${watching}</li>`}</ol></section>`;
}

/** The final scores. @param {TablePage} page @param {(SeatResult | PartsResult)[]} result @param {unknown} again the way to play again */
export function resultView({ drawing, table }, result, again) {
  const { game, seats, ended, play_off } = table;
  const rows = result.toSorted((a, b) => a.place - b.place);
  const parts = new Map(rows.map((row) => [row.seat, new Map(drawing.scoreParts(row))]));
  const columns = drawing
    .scoreParts(rows[0])
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
    <p class="links">${again} <button type="button" @click=${() => startReplay(1)}>Watch it again</button> <a class="button" href="/audit/${game}">Check its proof</a></p></section>`;
}

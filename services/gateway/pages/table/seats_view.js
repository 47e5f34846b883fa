// Who plays: cars, cards, tickets, points, clocks, and whose turn it is.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { cards, seatBadge } from "../board/marks.js";
import { CHOICES, plural, seatName, timeLeft } from "../shared/words.js";

const GONE = { left: "left the game", "out of time": "ran out of time", removed: "was removed" };

/** What is left of a seat's time: counted from the last entry, by what passed since. */
function clock(app, seat) {
  const passed = app.replay ? 0 : app.passedMs();
  const runs = seat.choice !== null;
  const left = [];
  if (seat.clock_ms !== null) left.push(seat.clock_ms - (runs ? passed : 0));
  if (runs && seat.deadline_ms !== null) left.push(seat.deadline_ms - app.state.at - passed);
  if (!left.length) return nothing;
  const ms = Math.min(...left);
  return html`<span class="clock ${ms < 60000 && runs ? "short" : ""}" title="time left">${timeLeft(ms)}</span>`;
}

const seatRow = (app, seat) => {
  const { state } = app;
  const acts = seat.choice !== null;
  const own = app.now.viewer === seat.seat;
  return html`<li data-seat=${seat.seat} class="seat ${acts ? "acts" : ""} ${seat.gone ? "gone" : ""}">
    ${seatBadge(seat.seat)}
    <div class="who"><span class="name">${seatName(seat)}</span>${own ? html`<span class="you">you</span>` : nothing}${seat.kind === "bot" ? html`<span class="bot">bot</span>` : nothing}
      ${seat.gone || acts ? html`<span class="doing">${seat.gone ? GONE[seat.gone] ?? seat.gone : CHOICES[seat.choice] ?? seat.choice}</span>` : nothing}</div>
    ${clock(app, seat)}
    <span class="points"><b>${seat.points}</b><span class="unit">${seat.points === 1 ? "point" : "points"}</span></span>
    <span class="facts">${plural(seat.cars, "car")} · ${plural(seat.cards, "card")} · ${plural(seat.tickets, "ticket")}${
      seat.stations_left ? html` · ${plural(seat.stations_left, "station")}` : nothing}${seat.passengers_left ? html` · ${plural(seat.passengers_left, "passenger")}` : nothing}</span>
  </li>`;
};

/** All seats, in turn order. */
export function seatsView(app) {
  const { state } = app;
  const order = state.turn_order.length ? state.turn_order : state.seats.map((seat) => seat.seat);
  return html`<section class="panel" aria-labelledby="seats-title"><h2 id="seats-title">Seats</h2>
    ${state.last_turns && state.status === "playing" ? html`<p class="notice">The last turns are being played.</p>` : nothing}
    <ol class="seats">${order.map((seat) => seatRow(app, state.seats[seat]))}</ol></section>`;
}

/** Of whom the cards and tickets are: a game that is over is seen as any seat saw it. */
const whose = (state, now) => (state.viewer === now.viewer ? "Your" : `${seatName(state.seats[state.viewer])}’s`);

/** The viewer's own cards. */
export const handView = ({ state, now }) => (state.hand === null ? nothing
  : html`<section class="panel hand" aria-labelledby="hand-title"><h2 id="hand-title">${whose(state, now)} cards</h2>
    <div class="cards">${Object.keys(state.hand).length ? cards(state.hand) : html`<p class="empty">None yet.</p>`}</div></section>`);

const ticketRow = (app, ticket) => {
  const name = (id) => app.cityNames.get(id) ?? id;
  const state = ticket.made ? "made" : ticket.open ? "open" : "cut off";
  return html`<li><button type="button" class="ticket bare ${state.replace(" ", "-")}" aria-pressed=${app.pinned === ticket.id}
    @mouseenter=${() => app.mark(ticket)} @mouseleave=${() => app.mark(null)} @focus=${() => app.mark(ticket)} @blur=${() => app.mark(null)}
    @click=${() => app.pin(ticket)}>
    <span class="ends">${name(ticket.a)} – ${name(ticket.b)}</span>
    <span class="state">${state}${!ticket.made && ticket.open ? html`, ${plural(ticket.way.length, "route")} to go` : nothing}</span><b>${ticket.points}</b></button></li>`;
};

/** The viewer's own tickets; one that is pointed at shows its ends and the shortest way that is open. */
export const ticketsView = (app) => (app.state.hand === null || !app.state.tickets.length ? nothing
  : html`<section class="panel" aria-labelledby="tickets-title"><h2 id="tickets-title">${whose(app.state, app.now)} tickets</h2>
    <ul class="tickets">${app.state.tickets.map((ticket) => ticketRow(app, ticket))}</ul></section>`);

const COLUMNS = [["routes", "Routes"], ["tickets", "Tickets"], ["bonus", "Longest"], ["most", "Most tickets"], ["stations", "Stations"], ["merchandise", "Goods"]];

/** The final scores. */
export function resultView(app) {
  const { state } = app;
  if (!state.result) return nothing;
  const rows = [...state.result].sort((a, b) => a.place - b.place);
  const columns = COLUMNS.filter(([key]) => rows.some((row) => row[key]));
  const winners = rows.filter((row) => row.place === 1).map((row) => seatName(state.seats[row.seat]));
  return html`<section class="panel result" aria-labelledby="result-title"><h2 id="result-title">${winners.join(" and ")} ${winners.length > 1 ? "share the first place" : "wins"}</h2>
    <div class="scroll" tabindex="0" role="group" aria-label="Final scores"><table><thead><tr><th scope="col">Seat</th><th scope="col">Total</th>${columns.map(([, name]) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr><th scope="row">${seatBadge(row.seat)} ${seatName(state.seats[row.seat])}</th>
      <td><b>${row.total}</b></td>${columns.map(([key]) => html`<td>${row[key]}</td>`)}</tr>`)}</tbody></table></div>
    <p>The game is over: ${state.ended}.${state.play_off ? html` <a href="/table/${state.play_off}">A play-off follows.</a>` : nothing}</p>
    <p class="links"><button type="button" class="primary" @click=${() => app.startReplay(1)}>Watch it again</button> <a class="button" href="/audit/${state.game}">Check its proof</a></p></section>`;
}

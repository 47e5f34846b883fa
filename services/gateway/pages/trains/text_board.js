// @ts-check
// The board in words, for people who don't see it: routes by owner, by city, and what is still open for each ticket.
import { html, nothing, render } from "../vendor/lit-html/lit-html.js";
import { when } from "../shared/frame.js";
import { plural, seatName, upperFirst } from "../shared/words.js";
import { owner, page as shownPage } from "../table/table_state.js";
import { cityName, endNames, shown } from "./board_state.js";
import { cardName } from "./train_marks.js";

/** @import { DrawnRoute, TableState } from "../api/openapi.js" */
/** @import { TablePage } from "../table/table_state.js" */

const place = document.createElement("div");

/** Show the board in words, as it is now. */
export function openTextBoard() {
  if (!place.isConnected) document.body.append(place);
  render(textBoard(/** @type {TablePage<TableState>} */ (shownPage)), place);
  place.querySelector("dialog")?.showModal();
}

const close = () => place.querySelector("dialog")?.close();

/** Whose a route is, or how it is to be had. @param {TableState} table @param {DrawnRoute} route */
function state({ routes, seats, closed, legal }, { id }) {
  if (id in routes) return `${seatName(seats[routes[id]])} has it`;
  if (closed.includes(id)) return "closed";
  return legal?.some(({ command }) => "route" in command && command.route === id)
    ? "free, you can claim it"
    : "free";
}

/** What a route is made of. @param {DrawnRoute} route */
const made = ({ length, color, kind, locomotives }) =>
  [
    plural(length, "space"),
    cardName(color),
    ...(kind === "rail" ? [] : [kind]),
    ...(locomotives ? [`at least ${plural(locomotives, "locomotive")}`] : []),
  ].join(", ");

/** Routes by owner, those that nobody has at last. @param {TablePage<TableState>} page */
function byOwner({ table, latest }) {
  const { board } = shown;
  const groups = Map.groupBy(board.routes, ({ id }) => table.routes[id]);
  const order = [...table.seats.map(({ seat }) => seat), undefined];
  return order.map((seat) => {
    const routes = groups.get(/** @type {number} */ (seat)) ?? [];
    const whose = seat === undefined ? "Nobody’s" : seatName(table.seats[seat]);
    return html`<details><summary>${whose}: ${plural(routes.length, "route")}</summary>
      <ul>${routes.map((route) => html`<li>${endNames(route)}: ${made(route)}${seat === undefined ? `; ${state({ ...table, legal: latest.legal }, route)}` : ""}</li>`)}</ul></details>`;
  });
}

/** What stands in a city. @param {TableState} table @param {string} id */
const standing = ({ stations, passengers, tokens, seats }, id) =>
  [
    ...(id in stations ? [`station of ${seatName(seats[stations[id]])}`] : []),
    ...(id in passengers ? [`passenger of ${seatName(seats[passengers[id]])}`] : []),
    ...(tokens[id]?.length ? [`merchandise ${tokens[id].join(", ")}`] : []),
  ].join("; ");

/** Cities with the routes that meet there. @param {TablePage<TableState>} page */
function byCity({ table, latest }) {
  const { board } = shown;
  const now = { ...table, legal: latest.legal };
  return board.cities
    .toSorted((one, other) => one.name.localeCompare(other.name))
    .map(({ id, name, country }) => {
      const routes = board.routes.filter(({ a, b }) => a === id || b === id);
      const there = standing(table, id);
      return html`<details><summary>${name}${country ? ", a country" : ""}: ${plural(routes.length, "route")}</summary>
        ${when(there, (text) => html`<p>${upperFirst(text)}.</p>`)}
        <ul>${routes.map((route) => html`<li>to ${cityName(route.a === id ? route.b : route.a)}: ${made(route)}; ${state(now, route)}</li>`)}</ul></details>`;
    });
}

/** What is still to be claimed for each ticket. @param {TablePage<TableState>} page */
function byTicket({ table }) {
  const routes = new Map(shown.board.routes.map((route) => [route.id, route]));
  return table.tickets.map((ticket) => {
    const way = ticket.way.flatMap((id) => routes.get(id) ?? []);
    const lost = table.status === "over" ? "missed" : "cut off";
    const spaces = way.reduce((sum, { length }) => sum + length, 0);
    const still = ticket.made
      ? "made"
      : ticket.open
        ? `still open, ${plural(spaces, "space")} on the shortest way`
        : lost;
    return html`<li>${endNames(ticket)}, ${plural(ticket.points, "point")}: ${still}
      ${way.length ? html`<ul>${way.map((route) => html`<li>${endNames(route)}: ${made(route)}</li>`)}</ul>` : nothing}</li>`;
  });
}

/** @param {TablePage<TableState>} page */
const textBoard = (page) =>
  html`<dialog class="text-board" aria-labelledby="text-board-title" @click=${(/** @type {{ target: Element }} */ { target }) => target.matches("dialog") && close()}>
    <div class="inside"><header><h2 id="text-board-title">The board in words</h2><button type="button" class="quiet" @click=${close}>Close</button></header>
    ${when(page.table.tickets.length, () => html`<h3>${owner(page)} tickets</h3><ul>${byTicket(page)}</ul>`)}
    <h3>Routes by owner</h3>${byOwner(page)}
    <h3>Routes by city</h3>${byCity(page)}</div></dialog>`;

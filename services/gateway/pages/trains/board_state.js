// @ts-check
// What is shown of a board beside the table: what is pointed at there, which tickets are chosen, how far the end is shown.
import { choose } from "../table/choosing.js";
import { offersOf, page, update } from "../table/table_state.js";

/** @import { BoardDrawing, PlayerCommand, TableState, TicketState } from "../api/openapi.js" */

/** What is pointed at on the board. @typedef {{ routes: string[], cities: string[] }} Pointed */
/**
 * @typedef {object} ShownBoard
 * @property {BoardDrawing} board
 * @property {Set<number>} chosen tickets: their places in the offer
 * @property {Pointed | null} pointed
 * @property {string | null} pinned ticket whose way is shown while nothing is pointed at
 * @property {number | null} finale how much of the end is shown; null: all
 * @property {Map<number, Record<string, number>> | null} hands of all seats, once the game is over
 */

/** The board is there before it is drawn first. */
export const shown = /** @type {ShownBoard} */ ({
  chosen: new Set(),
  pointed: null,
  pinned: null,
  finale: null,
  hands: null,
});

/** @param {Partial<ShownBoard>} change */
export function show(change) {
  const isKnown = Object.entries(change).every(([name, value]) => Object.is(value, Object(shown)[name]));
  if (isKnown) return;
  Object.assign(shown, change);
  update({});
}

/** @param {string} id */
export const cityName = (id) => shown.board.cities.find((city) => city.id === id)?.name ?? id;

/** The names of the ends of a ticket, or of a route. @param {{ a: string, b: string }} between */
export const endNames = ({ a, b }) => `${cityName(a)} – ${cityName(b)}`;

/** @param {string[]} routes one of which is meant */
export function chooseOnRoutes(routes) {
  const claims = offersOf(page.latest, "claim_route");
  const offers = routes.flatMap((route) => claims.filter((offer) => offer.command.route === route));
  if (offers.length) choose({ title: "Claim this route", question: "Paid with what?", offers });
}

/** The city that a command is about. @param {PlayerCommand} command */
export const cityOf = (command) => ("city" in command ? command.city : undefined);

/** @param {string} city */
export function chooseInCity(city) {
  const offers = (page.latest.legal ?? []).filter((offer) => cityOf(offer.command) === city);
  if (offers.length) choose({ title: cityName(city), question: "What do you do here?", offers });
}

/** All tickets that may be kept are chosen where some are offered anew; none where none are. @param {TableState} latest */
export function chooseOffer(latest) {
  const [before, now] = [page.latest, latest].map((table) => table && offersOf(table, "keep_tickets"));
  if (now.length && before?.length) return;
  const kept = now.map(({ command }) => command.keep);
  shown.chosen = new Set(kept.toSorted((a, b) => b.length - a.length)[0]);
}

/** Choose a ticket of the offer, or choose it no more. @param {number} place */
export function toggleTicket(place) {
  if (!shown.chosen.delete(place)) shown.chosen.add(place);
  update({});
}

/** What a ticket is about: its cities, and the way that is open. @param {TicketState} ticket @returns {Pointed} */
export const pointedBy = (ticket) => ({ routes: ticket.way, cities: [ticket.a, ticket.b] });

/** Show on the board what a ticket is about. @param {TicketState} ticket */
export const pointAtTicket = (ticket) => show({ pointed: pointedBy(ticket) });

export const pointAtNothing = () => show({ pointed: null });

/** Show a ticket's way for as long as nothing else is pointed at, or no more; no drawer lies over it then. @param {TicketState} ticket */
export function togglePin(ticket) {
  const pinned = shown.pinned === ticket.id ? null : ticket.id;
  if (page.drawer === "side" && pinned) page.drawer = null;
  show({ pinned, pointed: pinned ? pointedBy(ticket) : null });
}

/** What a command is about. @param {PlayerCommand} command @returns {Pointed} */
export function pointedByCommand(command) {
  const routes = ["route" in command ? [command.route] : [], "path" in command ? command.path : []].flat();
  const city = cityOf(command);
  return { routes, cities: city ? [city] : [] };
}

/** Show on the board what a command is about; null: nothing. @param {PlayerCommand | null} command */
export const pointAtCommand = (command) => show({ pointed: command && pointedByCommand(command) });

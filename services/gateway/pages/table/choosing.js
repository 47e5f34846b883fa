// @ts-check
// Choosing among what is legal, and pointing at the board.
import { root } from "../shared/frame.js";
import { cityName, offersOf, page, update } from "./table_state.js";

/** @import { PlayerCommand, TicketState } from "../api/openapi.js" */
/** @import { Choice } from "./table_state.js" */

/** Ask which of some commands, or whether to do something. @param {Choice} choice */
export function choose(choice) {
  update({ choice });
  const dialog = root.querySelector("dialog");
  if (!dialog?.open) dialog?.showModal();
}

export function closeChoice() {
  const dialog = root.querySelector("dialog");
  if (dialog?.open) dialog.close();
  if (page.choice) update({ choice: null, pointed: null });
}

/** Give the focus, which was lost, to what may be done, or to whose turn it is. */
export const focusOnActions = () =>
  /** @type {HTMLElement | null} */ (
    root.querySelector("#actions-title") ?? root.querySelector(".turn")
  )?.focus();

/** Open a drawer, or close it. @param {NonNullable<typeof page.drawer>} drawer */
export const toggleDrawer = (drawer) => update({ drawer: page.drawer === drawer ? null : drawer });

export const closeDrawer = () => update({ drawer: null });

export const confirmLeave = () =>
  choose({
    title: "Leave the game?",
    question: "Your seat takes no further part. This can't be undone.",
    offers: [{ command: { type: "leave" }, text: "leave the table", title: "leave the table", detail: "" }],
  });

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
  const title = cityName(page.board, city);
  if (offers.length) choose({ title, question: "What do you do here?", offers });
}

/** Choose a ticket of the offer, or choose it no more. @param {number} place */
export function toggleTicket(place) {
  if (!page.chosenTickets.delete(place)) page.chosenTickets.add(place);
  update({});
}

/** What a ticket is about: its cities, and the way that is open. @param {TicketState} ticket */
export const pointedBy = (ticket) => ({ routes: ticket.way, cities: [ticket.a, ticket.b] });

/** Show on the board what a ticket is about. @param {TicketState} ticket */
export const pointAtTicket = (ticket) => update({ pointed: pointedBy(ticket) });

export const pointAtNothing = () => update({ pointed: null });

/** Show a ticket's way for as long as nothing else is pointed at, or no more. @param {TicketState} ticket */
export const togglePin = (ticket) =>
  update({ pinnedTicket: page.pinnedTicket === ticket.id ? null : ticket.id, pointed: pointedBy(ticket) });

/** Show on the board what a command is about. @param {PlayerCommand} command */
export function pointAtCommand(command) {
  const routes = ["route" in command ? [command.route] : [], "path" in command ? command.path : []].flat();
  const city = cityOf(command);
  update({ pointed: { routes, cities: city ? [city] : [] } });
}

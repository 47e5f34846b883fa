// @ts-check
// Tickets as cards, each with its two cities on a tiny board.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { plural } from "../shared/words.js";
import { owner } from "../table/table_state.js";
import { endNames, pointAtNothing, pointAtTicket, shown, togglePin } from "./board_state.js";
import { tinyMap } from "./tiny_map.js";

/** @import { TableState, TicketState } from "../api/openapi.js" */
/** @import { TablePage } from "../table/table_state.js" */

/** A ticket whose other side nobody has seen yet. */
export const downTicket = html`<li><span class="ticket down"><span class="unseen">A ticket face down</span></span></li>`;

/** A ticket, which shows on the board where it is when it is pressed. @param {TablePage<TableState>} page @param {TicketState} ticket */
export function ticketRow({ table }, ticket) {
  const lost = table.status === "over" ? "missed" : "cut off";
  const state = ticket.made ? "made" : ticket.open ? "open" : lost;
  const point = () => pointAtTicket(ticket);
  return html`<li><button type="button" class="ticket bare ${state.replace(" ", "-")}" aria-pressed=${shown.pinned === ticket.id}
    @mouseenter=${point} @mouseleave=${pointAtNothing} @focus=${point} @blur=${pointAtNothing}
    @click=${() => togglePin(ticket)}>${tinyMap(shown.board, ticket)}
    <span class="words"><span class="ends">${endNames(ticket)}</span>
    <span class="state">${state}${state === "open" ? `, ${plural(ticket.way.length, "route")} to go` : ""}</span></span><b>${ticket.points}</b></button></li>`;
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

// @ts-check
// What a seat may do on a board now, and what it does it with: the market, the hand, an offer of tickets, commands by their kinds.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { when } from "../shared/frame.js";
import { plural } from "../shared/words.js";
import { send } from "../table/acting.js";
import { actionsPanel, choiceButton, commandButton, mainButton } from "../table/actions_view.js";
import { offersOf, owner } from "../table/table_state.js";
import { cityName, endNames, pointAtNothing, pointAtTicket, shown, toggleTicket } from "./board_state.js";
import { tinyMap } from "./tiny_map.js";
import { card, cards } from "./train_marks.js";

/** @import { LegalCommand, PlayerCommand, TableState, TunnelState } from "../api/openapi.js" */
/** @import { TablePage } from "../table/table_state.js" */

/** @type {[PlayerCommand["type"], string, string][]} */
const CHOICES = [
  ["claim_route", "Claim a route", "Which route, and paid with what?"],
  ["build_station", "Build a station", "Where, and paid with what?"],
  ["move_passenger", "Move a passenger", "Which way?"],
  ["draw_tickets", "Draw tickets", "Which tickets?"],
  ["pay_tunnel", "Pay for the tunnel", "Paid with what?"],
];
/** @type {Set<PlayerCommand["type"]>} */
const PLACED = new Set(["draw_market", "draw_blind", "keep_tickets", ...CHOICES.map(([type]) => type)]);

/** @param {TablePage<TableState>} page @param {typeof CHOICES[number]} choice */
function kindButton({ latest, isBusy }, [type, title, question]) {
  const offers = offersOf(latest, type);
  const tally = type === "claim_route" ? new Set(offers.map((offer) => offer.title)).size : offers.length;
  return choiceButton(offers, isBusy, title, question, tally);
}

/** The cards face up, and the deck: those that may be drawn are buttons. @param {TablePage<TableState>} page */
export function marketView({ table, latest, isBusy }) {
  const slots = new Map(offersOf(latest, "draw_market").map((offer) => [offer.command.slot, offer]));
  const [blind] = offersOf(latest, "draw_blind");
  const deck = html`<span class="pile" aria-hidden="true"></span><span class="card-name">Deck</span><span class="count">${table.deck}</span>`;
  const blindLabel = `Draw blind from the deck of ${table.deck}`;
  /** @param {string | null} color @param {number} slot */
  const slotView = (color, slot) => {
    if (color === null) return html`<span class="card gap">gap</span>`;
    const offer = latest.market[slot] === color ? slots.get(slot) : undefined; // others' moves may still be shown
    if (!offer) return card(color);
    const label = `Take ${color} from the market, place ${slot + 1}`;
    return commandButton(offer, isBusy, "bare", card(color), { label, key: String(slot + 1) });
  };
  return html`<ul class="market">
    <li>${blind ? commandButton(blind, isBusy, "card deck", deck, { label: blindLabel }) : html`<span class="card deck">${deck}</span>`}</li>
    ${table.market.map((color, slot) => html`<li>${slotView(color, slot)}</li>`)}
  </ul>`;
}

/** The viewer's own cards. @param {TablePage<TableState>} page */
export function handView(page) {
  const { hand } = page.table;
  if (hand === null) return nothing;
  return html`<section class="panel hand" aria-labelledby="hand-title"><h2 id="hand-title" tabindex="-1" aria-keyshortcuts="h">${owner(page)} cards</h2>
    <div class="cards">${Object.keys(hand).length ? cards(hand) : html`<p class="empty">None yet.</p>`}</div></section>`;
}

/** The tickets of an offer, with a box for each. @param {TablePage<TableState>} page */
function ticketOffer({ latest, isBusy }) {
  const offers = offersOf(latest, "keep_tickets");
  if (!offers.length) return nothing;
  const chosen = [...shown.chosen].toSorted((a, b) => a - b);
  const offer = offers.find(({ command }) => command.keep.join() === chosen.join());
  const sizes = offers.map(({ command }) => command.keep.length);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  return html`<fieldset class="offer"><legend>Which tickets do you keep? ${least === most ? `Exactly ${least}` : `${least} to ${most}`}.</legend>
    ${latest.offer.map(
      (ticket, place) =>
        html`<label class="ticket" @mouseenter=${() => pointAtTicket(ticket)} @mouseleave=${pointAtNothing}>
      <input type="checkbox" .checked=${shown.chosen.has(place)} @change=${() => toggleTicket(place)} @focus=${() => pointAtTicket(ticket)} @blur=${pointAtNothing}>
      ${tinyMap(shown.board, ticket)}<span class="words"><span class="ends">${endNames(ticket)}</span>
      <span class="state">${ticket.deck}</span></span><b>${ticket.points}</b></label>`,
    )}
    <button type="button" class="primary" aria-keyshortcuts="k" ?disabled=${isBusy || !offer} @click=${() => offer && send(offer.command)}>
      Keep ${plural(chosen.length, "ticket")}</button></fieldset>`;
}

/** @param {TunnelState} tunnel */
const tunnelView = ({ extra, revealed }) =>
  html`<p>The tunnel asks for <b>${plural(extra, "card")}</b> more; turned up: ${revealed.map((color) => card(color))}</p>`;

/** @param {TablePage<TableState>} page */
export function boardActions(page) {
  const { latest, isBusy } = page;
  const plain = (latest.legal ?? []).filter(({ command }) => !PLACED.has(command.type));
  return actionsPanel(
    page,
    html`${when(latest.tunnel, tunnelView)}
    ${ticketOffer(page)}
    <div class="buttons">
      ${offersOf(latest, "draw_blind").map((offer) => mainButton(offer, isBusy))}
      ${CHOICES.map((choice) => kindButton(page, choice))}
      ${plain.map((offer) => mainButton(offer, isBusy))}
    </div>`,
  );
}

/** What is paid for a command, which stands for it in a dialog. @param {LegalCommand} offer */
export function paymentView({ command }) {
  if (!("cards" in command) || !command.cards) return undefined;
  const city = "passenger" in command ? command.passenger : null;
  return html`${cards(command.cards)}${when(city, (id) => html`<span class="note">with a passenger in ${cityName(id)}</span>`)}`;
}

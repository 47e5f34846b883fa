// @ts-check
// What the seat may do now: every legal command is a button here. The page knows no rules; it groups what it was sent.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { card } from "../board/marks.js";
import { when } from "../shared/frame.js";
import { plural, upperFirst } from "../shared/words.js";
import { send } from "./acting.js";
import { choose, confirmLeave, pointAtNothing, pointAtTicket, toggleTicket } from "./choosing.js";
import { offersOf, ticketName } from "./table_state.js";

/** @import { LegalCommand, PlayerCommand, TunnelState } from "../api/openapi.js" */
/** @import { TablePage } from "./table_state.js" */

/** @type {[PlayerCommand["type"], string, string][]} */
const CHOICES = [
  ["claim_route", "Claim a route", "Which route, and paid with what?"],
  ["build_station", "Build a station", "Where, and paid with what?"],
  ["move_passenger", "Move a passenger", "Which way?"],
  ["draw_tickets", "Draw tickets", "Which tickets?"],
  ["pay_tunnel", "Pay for the tunnel", "Paid with what?"],
];
/** @type {Set<PlayerCommand["type"]>} */
const PLACED = new Set([
  "draw_market",
  "draw_blind",
  "keep_tickets",
  "leave",
  ...CHOICES.map(([type]) => type),
]);

/** A button that sends a command. @param {LegalCommand} offer @param {boolean} isBusy @param {string} kind @param {unknown} content */
export const commandButton = (offer, isBusy, kind, content = upperFirst(offer.text)) =>
  html`<button type="button" class=${kind} ?disabled=${isBusy}
  aria-label=${upperFirst(offer.text)} @click=${() => send(offer.command)}>${content}</button>`;

/** A button that opens a choice among commands of a type, or sends the only one. @param {TablePage} page @param {typeof CHOICES[number]} choice */
function choiceButton({ latest, isBusy }, [type, title, question]) {
  const offers = offersOf(latest, type);
  if (!offers.length) return nothing;
  if (offers.length === 1) return commandButton(offers[0], isBusy, "primary");
  const tally = type === "claim_route" ? new Set(offers.map((offer) => offer.title)).size : offers.length;
  return html`<button type="button" class="primary" ?disabled=${isBusy} @click=${() => choose({ title, question, offers })}>
    ${title}<span class="tally">${tally}</span></button>`;
}

/** A card or the deck, which is a button where it may be drawn. @param {TablePage} page @param {LegalCommand | undefined} offer @param {string} kind @param {string} label @param {unknown} content */
const drawButton = ({ isBusy }, offer, kind, label, content) =>
  offer &&
  html`<button type="button" class=${kind} ?disabled=${isBusy} aria-label=${label} @click=${() => send(offer.command)}>${content}</button>`;

/** The cards face up, and the deck. @param {TablePage} page */
export function marketView(page) {
  const { table, latest } = page;
  const slots = new Map(offersOf(latest, "draw_market").map((offer) => [offer.command.slot, offer]));
  const [blind] = offersOf(latest, "draw_blind");
  const deck = html`<span class="pile" aria-hidden="true"></span><span class="card-name">Deck</span><span class="count">${table.deck}</span>`;
  /** @param {string | null} color @param {number} slot */
  const slotView = (color, slot) =>
    color === null
      ? html`<span class="card gap">gap</span>`
      : (drawButton(
          page,
          slots.get(slot),
          "bare",
          `Take ${color} from the market, place ${slot + 1}`,
          card(color),
        ) ?? card(color));
  return html`<ul class="market">
    <li>${drawButton(page, blind, "card deck", `Draw blind from the deck of ${table.deck}`, deck) ?? html`<span class="card deck">${deck}</span>`}</li>
    ${table.market.map((color, slot) => html`<li>${slotView(color, slot)}</li>`)}
  </ul>`;
}

/** The tickets of an offer, with a box for each. @param {TablePage} page */
function offerView({ board, table, latest, isBusy, chosenTickets }) {
  const offers = offersOf(latest, "keep_tickets");
  if (!offers.length) return nothing;
  const chosen = [...chosenTickets].toSorted((a, b) => a - b);
  const offer = offers.find(({ command }) => command.keep.join() === chosen.join());
  const sizes = offers.map(({ command }) => command.keep.length);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  return html`<fieldset class="offer"><legend>Which tickets do you keep? ${least === most ? `Exactly ${least}` : `${least} to ${most}`}.</legend>
    ${table.offer.map(
      (ticket, place) =>
        html`<label class="ticket" @mouseenter=${() => pointAtTicket(ticket)} @mouseleave=${pointAtNothing}>
      <input type="checkbox" .checked=${chosenTickets.has(place)} @change=${() => toggleTicket(place)} @focus=${() => pointAtTicket(ticket)} @blur=${pointAtNothing}>
      <span class="ends">${ticketName(board, ticket)}</span>
      <span class="deck-name">${ticket.deck}</span><b>${ticket.points}</b></label>`,
    )}
    <button type="button" class="primary" ?disabled=${isBusy || !offer} @click=${() => offer && send(offer.command)}>
      Keep ${plural(chosen.length, "ticket")}</button></fieldset>`;
}

/** @param {TunnelState} tunnel */
const tunnelView = ({ extra, revealed }) =>
  html`<p>The tunnel asks for <b>${plural(extra, "card")}</b> more; turned up: ${revealed.map((color) => card(color))}</p>`;

/** The panel of actions. @param {TablePage} page */
export function actionsView(page) {
  const { table, latest, isBusy, replay } = page;
  if (table.viewer === "public" || table.status !== "playing" || replay) return nothing;
  const legal = latest.legal ?? [];
  const plain = legal.filter(({ command }) => !PLACED.has(command.type));
  const [leave] = offersOf(latest, "leave");
  const isOwnTurn = legal.some(({ command }) => command.type !== "leave");
  return html`<section class="panel actions" aria-labelledby="actions-title"><h2 id="actions-title" tabindex="-1">${isOwnTurn ? "Your move" : "Wait for the others"}</h2>
    ${when(table.tunnel, tunnelView)}
    ${offerView(page)}
    <div class="buttons">
      ${offersOf(latest, "draw_blind").map((offer) => commandButton(offer, isBusy, "primary"))}
      ${CHOICES.map((choice) => choiceButton(page, choice))}
      ${plain.map((offer) => commandButton(offer, isBusy, "primary"))}
    </div>
    ${when(leave, () => html`<button type="button" class="quiet" ?disabled=${isBusy} @click=${() => confirmLeave(leave)}>Leave the game …</button>`)}
  </section>`;
}

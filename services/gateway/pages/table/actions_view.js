// @ts-check
// What the seat may do now: every legal command is a button here, and leaving. The page knows no rules; it groups what it was sent.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { card } from "../board/marks.js";
import { when } from "../shared/frame.js";
import { plural, seatName, upperFirst } from "../shared/words.js";
import { send } from "./acting.js";
import { choose, pointAtNothing, pointAtTicket, toggleTicket } from "./choosing.js";
import { keyOf } from "./keys.js";
import { offersOf, ticketName } from "./table_state.js";

/** @import { LegalCommand, PlayerCommand, TableState, TunnelState } from "../api/openapi.js" */
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
const PLACED = new Set(["draw_market", "draw_blind", "keep_tickets", ...CHOICES.map(([type]) => type)]);

/**
 * A button that sends a command.
 * @param {LegalCommand} offer
 * @param {boolean} isBusy
 * @param {string} kind the button's class
 * @param {unknown} content
 * @param {string} label
 */
export const commandButton = (offer, isBusy, kind, content, label = upperFirst(offer.text)) =>
  html`<button type="button" class=${kind} aria-keyshortcuts=${kind === "primary" || offer.command.type === "draw_market" ? keyOf(offer.command) : nothing} ?disabled=${isBusy} aria-label=${label} @click=${() => send(offer.command)}>${content}</button>`;

/** A button for a command that stands alone. @param {LegalCommand} offer @param {boolean} isBusy */
export const mainButton = (offer, isBusy) => commandButton(offer, isBusy, "primary", upperFirst(offer.text));

/**
 * A button that opens a choice among commands of a type, or sends the only one.
 * @param {LegalCommand[]} offers
 * @param {boolean} isBusy
 * @param {string} title
 * @param {string} question
 * @param {number} [tally] of what is offered
 */
export function choiceButton(offers, isBusy, title, question, tally = offers.length) {
  if (!offers.length) return nothing;
  if (offers.length === 1) return mainButton(offers[0], isBusy);
  return html`<button type="button" class="primary" aria-keyshortcuts=${keyOf(offers[0].command)} ?disabled=${isBusy} @click=${() => choose({ title, question, offers })}>
    ${title}<span class="tally">${tally}</span></button>`;
}

/** @param {TablePage<TableState>} page @param {typeof CHOICES[number]} choice */
function trainChoice({ latest, isBusy }, [type, title, question]) {
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
    return commandButton(
      offer,
      isBusy,
      "bare",
      card(color),
      `Take ${color} from the market, place ${slot + 1}`,
    );
  };
  return html`<ul class="market">
    <li>${blind ? commandButton(blind, isBusy, "card deck", deck, blindLabel) : html`<span class="card deck">${deck}</span>`}</li>
    ${table.market.map((color, slot) => html`<li>${slotView(color, slot)}</li>`)}
  </ul>`;
}

/** The tickets of an offer, with a box for each. @param {TablePage<TableState>} page */
function offerView({ board, latest, isBusy, chosenTickets }) {
  const offers = offersOf(latest, "keep_tickets");
  if (!offers.length) return nothing;
  const chosen = [...chosenTickets].toSorted((a, b) => a - b);
  const offer = offers.find(({ command }) => command.keep.join() === chosen.join());
  const sizes = offers.map(({ command }) => command.keep.length);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  return html`<fieldset class="offer"><legend>Which tickets do you keep? ${least === most ? `Exactly ${least}` : `${least} to ${most}`}.</legend>
    ${latest.offer.map(
      (ticket, place) =>
        html`<label class="ticket" @mouseenter=${() => pointAtTicket(ticket)} @mouseleave=${pointAtNothing}>
      <input type="checkbox" .checked=${chosenTickets.has(place)} @change=${() => toggleTicket(place)} @focus=${() => pointAtTicket(ticket)} @blur=${pointAtNothing}>
      <span class="ends">${ticketName(board, ticket)}</span>
      <span class="deck-name">${ticket.deck}</span><b>${ticket.points}</b></label>`,
    )}
    <button type="button" class="primary" aria-keyshortcuts="k" ?disabled=${isBusy || !offer} @click=${() => offer && send(offer.command)}>
      Keep ${plural(chosen.length, "ticket")}</button></fieldset>`;
}

/** @param {TunnelState} tunnel */
const tunnelView = ({ extra, revealed }) =>
  html`<p>The tunnel asks for <b>${plural(extra, "card")}</b> more; turned up: ${revealed.map((color) => card(color))}</p>`;

/** What may be done about the last move: take it back, or answer who asks to. @param {TablePage} page */
function undoView({ table, latest, isBusy }) {
  const { undo } = latest;
  if (!undo) return nothing;
  const { seat, waiting } = undo;
  if (waiting === null) {
    if (seat !== table.viewer) return nothing;
    return html`<button type="button" class="quiet" ?disabled=${isBusy} @click=${() => send({ type: "ask_undo" })}>Take my last move back</button>`;
  }
  /** @param {boolean} agrees @param {string} label */
  const answer = (agrees, label) =>
    html`<button type="button" ?disabled=${isBusy} @click=${() => send({ type: "answer_undo", agrees })}>${label}</button>`;
  if (waiting.some((other) => other === table.viewer)) {
    return html`<div class="undo" role="status"><p>${seatName(table.seats[seat])} asks to take the last move back.</p>
      <div class="buttons">${answer(true, "Agree")} ${answer(false, "Let it stand")}</div></div>`;
  }
  const names = waiting.map((other) => seatName(table.seats[other])).join(", ");
  return html`<p class="undo" role="status">${seatName(table.seats[seat])} asks to take the last move back: waiting for ${names}.</p>`;
}

/**
 * The panel of actions: what may be done now. None where nobody acts.
 * @param {TablePage} page
 * @param {unknown} content
 */
export function actionsPanel(page, content) {
  const { table, latest, replay } = page;
  if (table.viewer === "public" || table.status !== "playing" || replay) return nothing;
  const mayAct = latest.legal?.length;
  return html`<section class="panel actions ${mayAct || latest.undo ? "" : "idle"}" aria-labelledby="actions-title"><h2 id="actions-title" tabindex="-1" aria-keyshortcuts="a">${mayAct ? "Your move" : "Wait for the others"}</h2>
    ${content}
    ${undoView(page)}
  </section>`;
}

/** The actions of a train game. @param {TablePage<TableState>} page */
export function actionsView(page) {
  const { latest, isBusy } = page;
  const plain = (latest.legal ?? []).filter(({ command }) => !PLACED.has(command.type));
  return actionsPanel(
    page,
    html`${when(latest.tunnel, tunnelView)}
    ${offerView(page)}
    <div class="buttons">
      ${offersOf(latest, "draw_blind").map((offer) => mainButton(offer, isBusy))}
      ${CHOICES.map((choice) => trainChoice(page, choice))}
      ${plain.map((offer) => mainButton(offer, isBusy))}
    </div>`,
  );
}

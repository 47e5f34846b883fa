// @ts-check
// What the seat may do now: every legal command is a button. The page knows no rules; it groups what it was sent.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { plural, seatName, upperFirst } from "../shared/words.js";
import { send } from "./acting.js";
import { choose } from "./choosing.js";
import { hintButton, hintView } from "./hint.js";
import { keyOf } from "./keys.js";

/** @import { LegalCommand } from "../api/openapi.js" */
/** @import { TablePage } from "./table_state.js" */

/**
 * A button that sends a command.
 * @param {LegalCommand} offer
 * @param {boolean} isBusy
 * @param {string} kind the button's class
 * @param {unknown} content
 * @param {{ label?: string, key?: string }} more
 */
export const commandButton = (offer, isBusy, kind, content, { label = upperFirst(offer.text), key } = {}) =>
  html`<button type="button" class=${kind} aria-keyshortcuts=${key ?? nothing} ?disabled=${isBusy} aria-label=${label} @click=${() => send(offer.command)}>${content}</button>`;

/** A button for a command that stands alone. @param {LegalCommand} offer @param {boolean} isBusy */
export const mainButton = (offer, isBusy) =>
  commandButton(offer, isBusy, "primary", upperFirst(offer.text), { key: keyOf(offer.command) });

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
    ${title} <span class="tally">${tally}</span></button>`;
}

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

/** What who has no seat is told in place of actions. @param {TablePage} page */
const watchingView = ({ watching }) =>
  html`<section class="panel watching" aria-labelledby="watching-title"><h2 id="watching-title">You are watching</h2>
    <p class="note watchers">${watching > 1 ? `${plural(watching - 1, "other")} ${watching === 2 ? "watches" : "watch"} here, too.` : "Nobody else watches here."}</p></section>`;

/**
 * The panel of actions: what may be done now. None where nobody acts.
 * @param {TablePage} page
 * @param {unknown} content
 */
export function actionsPanel(page, content) {
  const { table, latest, replay } = page;
  if (table.status !== "playing" || replay) return nothing;
  if (table.viewer === "public") return watchingView(page);
  const mayAct = latest.legal?.length;
  return html`<section class="panel actions ${mayAct || latest.undo ? "" : "idle"}" aria-labelledby="actions-title"><div class="actions-head"><h2 id="actions-title" tabindex="-1" aria-keyshortcuts="a">${mayAct ? "Your move" : "Wait for the others"}</h2>${hintButton(page)}</div>
    ${hintView(page)}
    ${content}
    ${undoView(page)}
  </section>`;
}

// @ts-check
// The dialog: a choice among legal commands, in groups by their title, or a question before something is done.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { when } from "../shared/frame.js";
import { plural, upperFirst } from "../shared/words.js";
import { commandButton } from "./actions_view.js";
import { closeChoice } from "./choosing.js";
import { page } from "./table_state.js";

/** @import { LegalCommand } from "../api/openapi.js" */
/** @import { Choice, TablePage } from "./table_state.js" */

const MOST_OPEN = 14; // offers of a dialog whose groups all stand open

/** What an offer is called within its group: by the game's drawing, or its detail. @param {LegalCommand} offer */
const offerView = (offer) => page.drawing.offer?.(offer) ?? upperFirst(offer.detail || offer.text);

/**
 * A group of offers; of many, the groups are folded.
 * @param {string} title
 * @param {LegalCommand[]} offers
 * @param {boolean} isBusy
 * @param {boolean} isFolded
 */
function groupView(title, offers, isBusy, isFolded) {
  const choices = html`<div class="buttons">${offers.map((offer) => commandButton(offer, isBusy, "choice", offerView(offer)))}</div>`;
  const point = () => page.drawing.point?.(offers[0].command);
  if (!isFolded)
    return html`<section class="group" @mouseenter=${point} @focusin=${point}><h3>${upperFirst(title)}</h3>${choices}</section>`;
  return html`<details class="group" name="offers" @mouseenter=${point} @focusin=${point}>
    <summary>${upperFirst(title)}<span class="note">${offers.length > 1 ? plural(offers.length, "way") : ""}</span></summary>${choices}</details>`;
}

/** @param {Choice} choice @param {boolean} isBusy */
function choiceContent({ title, question, offers, keys, confirmation }, isBusy) {
  const groups = [...Map.groupBy(offers, (offer) => offer.title)];
  const isFolded = groups.length > 1 && offers.length > MOST_OPEN;
  const isFlat = offers.every((offer) => !offer.detail && !page.drawing.offer?.(offer));
  return html`<div class="inside"><header><h2 id="dialog-title">${title}</h2>
      <button type="button" class="quiet" @click=${closeChoice}>Close</button></header>
    <p>${question}</p>
    ${
      isFlat
        ? html`<div class="buttons">${offers.map((offer) => commandButton(offer, isBusy, "choice", offerView(offer)))}</div>`
        : groups.map(([name, group]) => groupView(name, group, isBusy, isFolded))
    }
    ${when(keys, (known) => html`<dl class="keys">${known.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl>`)}
    ${when(confirmation, ({ text, run }) => html`<p><button type="button" class="primary" @click=${run}>${text}</button></p>`)}
    </div>`;
}

/** A click beside the dialog closes it. @param {{ target: Element }} event */
const closeBeside = (event) => event.target.matches("dialog") && closeChoice();

/** It was closed, and nothing else is asked in it since. @param {{ currentTarget: HTMLDialogElement }} event */
const closed = (event) => event.currentTarget.open || closeChoice();

/** The dialog, open where there is a choice. @param {TablePage} page */
export const choiceView = ({ choice, isBusy }) =>
  html`<dialog aria-labelledby="dialog-title" @close=${closed} @click=${closeBeside}>
    ${choice ? choiceContent(choice, isBusy) : nothing}
  </dialog>`;

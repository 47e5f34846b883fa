// @ts-check
// The cards of the train games, each by its mark, and what they are called.
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { colorMark } from "../shared/card_marks.js";

const LOCOMOTIVE = svg`<path d="M-4.5 2.5V-1.8H-1V-4H2.6V-1.8H4.5V2.5ZM-4.4 4.2a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0M1.2 4.2a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0"/>`;

/** @type {Record<string, unknown>} */
const SHAPES = {
  locomotive: LOCOMOTIVE,
  locomotive4: LOCOMOTIVE,
  passenger: svg`<path d="M0-4.4a2 2 0 1 1-.01 0ZM-3 4.4Q-3 .4 0 .4T3 4.4Z"/>`,
};
/** @type {Record<string, string>} */
const NAMES = { gray: "any one colour", locomotive4: "+4 locomotive" }; // the others are called what they are

/** @param {string} card */
export const cardName = (card) => NAMES[card] ?? card;

/** The mark of a card, to be put into a drawing. Gray has none. @param {string} name */
export const mark = (name) => SHAPES[name] ?? colorMark(name);

/** A card, and how many of it. @param {string} color @param {number} [count] */
export const card = (color, count) =>
  html`<span class="card c-${color}"><svg class="mark" viewBox="-6 -6 12 12" aria-hidden="true">${mark(color)}</svg><span class="card-name">${cardName(color)}</span>${
    count === undefined ? nothing : html`<span class="count">${count}</span>`
  }</span>`;

/** A payment: its cards in a row. @param {Record<string, number>} counts */
export const cards = (counts) => Object.entries(counts).map(([color, count]) => card(color, count));

// @ts-check
// A mark for every colour, so that nobody has to tell colours apart; drawn in a square from -5 to 5.
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { cardName, seatLetter } from "../shared/words.js";

const LOCOMOTIVE = svg`<path d="M-4.5 2.5V-1.8H-1V-4H2.6V-1.8H4.5V2.5ZM-4.4 4.2a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0M1.2 4.2a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0"/>`;

/** @type {Record<string, unknown>} */
const SHAPES = {
  purple: svg`<path d="M0-4 4 0 0 4-4 0Z"/>`,
  white: svg`<circle r="3" class="ring"/>`,
  blue: svg`<path class="line" d="M-4.2-1.2q2.1-3 4.2 0t4.2 0M-4.2 2.4q2.1-3 4.2 0t4.2 0"/>`,
  yellow: svg`<path d="M0-4.4 1.2-1.3 4.4-1.3 1.9.7 2.8 3.9 0 2-2.8 3.9-1.9.7-4.4-1.3-1.2-1.3Z"/>`,
  orange: svg`<path d="M0-4 4 3.2-4 3.2Z"/>`,
  red: svg`<path d="M-1.3-4H1.3V-1.3H4V1.3H1.3V4H-1.3V1.3H-4V-1.3H-1.3Z"/>`,
  green: svg`<path d="M-3.8 3.8Q-4-3.8 3.8-3.8 4 3.8-3.8 3.8Z"/>`,
  black: svg`<path d="M-3.2-3.2H3.2V3.2H-3.2Z"/>`,
  locomotive: LOCOMOTIVE,
  locomotive4: LOCOMOTIVE,
  passenger: svg`<path d="M0-4.4a2 2 0 1 1-.01 0ZM-3 4.4Q-3 .4 0 .4T3 4.4Z"/>`,
};

/** The mark of a colour, to be put into a drawing. Gray has none. @param {string} color */
export const mark = (color) => SHAPES[color] ?? nothing;

/** Whether it is a colour with a mark. @param {string} color */
export const hasMark = (color) => color in SHAPES;

/** A card, and how many of it. @param {string} color @param {number} [count] */
export const card = (color, count) =>
  html`<span class="card c-${color}"><svg class="mark" viewBox="-6 -6 12 12" aria-hidden="true">${mark(color)}</svg><span class="card-name">${cardName(color)}</span>${
    count === undefined ? nothing : html`<span class="count">${count}</span>`
  }</span>`;

/** A payment: its cards in a row. @param {Record<string, number>} counts */
export const cards = (counts) => Object.entries(counts).map(([color, count]) => card(color, count));

/** A seat's colour with its letter. @param {number} seat */
export const seatBadge = (seat) =>
  html`<span class="badge s-${seat}" aria-hidden="true">${seatLetter(seat)}</span>`;

// @ts-check
// A mark for every colour of cards, so that nobody has to tell colours apart; drawn in a square from -5 to 5.
import { nothing, svg } from "../vendor/lit-html/lit-html.js";

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
};

/** The mark of a colour, to be put into a drawing; nothing where it has none. @param {string} color */
export const colorMark = (color) => SHAPES[color] ?? nothing;

/** Whether it is a colour with a mark. @param {string} color */
export const hasMark = (color) => color in SHAPES;

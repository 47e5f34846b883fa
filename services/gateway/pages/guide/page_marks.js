// @ts-check
// What the marks of a first game say of the page itself, and where its parts are; the table's own marks stand between them.

/** @import { Mark } from "../table/drawing.js" */

export const SEATS = "[aria-labelledby='seats-title']";
export const RULES = ".rules-key";
/** @type {Mark} */
export const TURN_MARK = [".turn", "Whose turn it is always stands here."];
/** @type {Mark} */
export const ACTIONS_MARK = [
  "[aria-labelledby='actions-title']",
  "All that you may do now is a button here. What isn't offered isn't allowed, so nothing can go wrong.",
];
/** @type {Mark} */
export const MOVES_MARK = [".moves, .news, [aria-labelledby='moves-title']", "What has happened, in words."];

// @ts-check
// Moves that came together are shown one after another, each as the table was after it; a press anywhere shows the last at once.
import { page, update } from "./table_state.js";

/** @import { Move } from "../api/openapi.js" */
/** @import { AnyTable, TablePage } from "./table_state.js" */

const STEP_MS = 400;
export const PAINTED_MS = 30; // after which a drawing is painted, with what people wait for
export const MOST_STEPS = 12; // more are not waited for: the table was away for long

/** @type {Pick<TablePage, "table" | "marks">[]} */
let steps = []; // that are still to be shown
/** @type {number | undefined} */
let timer;

/** Whether nothing moves: nobody looks, or the person wants no motion. */
export const isStill = () =>
  document.visibilityState !== "visible" || matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * Show a table: what the viewer did itself at once, what others did after what they did before.
 * @param {AnyTable} table
 * @param {Move[]} fresh the moves that led to it
 */
export function present(table, fresh) {
  steps.push({ table, marks: new Set(fresh.flatMap((move) => move.marks)) });
  const isOwn = fresh.every((move) => move.seat === table.viewer);
  if (isOwn || isStill() || steps.length > MOST_STEPS) showLast();
  else if (timer === undefined) timer = setTimeout(step, PAINTED_MS); // an own move that came just before is seen first
  else update({});
}

/**
 * Show once more how the table came to be what it is.
 * @param {AnyTable[]} tables the last of them is the latest
 * @param {Move[]} moves that led from one to the next
 */
export function presentAgain(tables, moves) {
  const marks = new Map(moves.map((move) => [move.number, move.marks]));
  steps = tables.map((table) => ({ table, marks: new Set(marks.get(table.number)) }));
  clearTimeout(timer);
  step();
}

function step() {
  timer = undefined;
  const next = steps.shift();
  if (!next) return;
  timer = setTimeout(step, STEP_MS);
  update(page.replay ? {} : next);
}

/** Show the last of what is still to be shown. */
function showLast() {
  const last = steps.at(-1);
  steps = [];
  if (last) update(page.replay ? {} : last);
}

addEventListener("pointerdown", showLast, { capture: true });

// @ts-check
// A first game on this device is guided: marks that point, one at a time, beside what may be clicked. Whoever wants none is rid of them.
import { html, nothing, render } from "../vendor/lit-html/lit-html.js";

/** @import { TablePage } from "../table/table_state.js" */
/** @typedef {{ left: number, top: number, right: number, bottom: number }} Box */

const STEP = "ledgerline.guide"; // in this browser: the next mark, or "done"
const DONE = "done";
const GAP = 10; // px between a mark and what it points at
const CLICKED = "button:not(:disabled), label, select, summary, a[href]";

const place = document.createElement("div");
/** @type {TablePage | undefined} */
let shown;

/** @param {string} selector @returns {Element | undefined} */
const seen = (selector) =>
  [...document.querySelectorAll(selector)].find((each) => each.getClientRects().length > 0);

/** Whether who looks on plays now. @param {TablePage} page */
const plays = ({ table, replay }) => table.status === "playing" && table.viewer !== "public" && !replay;

/** The mark that is next, whose place is seen; none where there is none. @param {TablePage} page */
function nextMark(page) {
  const kept = localStorage.getItem(STEP);
  if (kept === DONE || !plays(page)) return null;
  const { marks } = page.drawing.words;
  for (let step = Number(kept); step < marks.length; step += 1) {
    const target = seen(marks[step][0]);
    if (target) return { step, of: marks.length, words: marks[step][1], target };
  }
  return null;
}

/** Show the mark that is next on a table. @param {TablePage} page */
export function guide(page) {
  if (!place.isConnected) {
    document.body.append(place);
    for (const event of ["scroll", "resize"])
      addEventListener(event, showAgain, { passive: true, capture: true });
    addEventListener(
      "keydown",
      ({ key }) => key === "Escape" && !document.querySelector("dialog[open]") && go(DONE),
    );
  }
  shown = page;
  const mark = nextMark(page);
  render(mark ? markView(mark) : nothing, place);
  if (mark) put(mark.target);
}

const showAgain = () => shown && guide(shown);

/** @param {number | typeof DONE} step */
function go(step) {
  if (!shown || !nextMark(shown)) return;
  localStorage.setItem(STEP, step === shown.drawing.words.marks.length ? DONE : String(step));
  const mark = nextMark(shown);
  mark?.target.scrollIntoView({ block: "nearest" });
  showAgain();
}

/** @param {NonNullable<ReturnType<typeof nextMark>>} mark */
const markView = ({ step, of, words }) =>
  html`<div class="guide-ring" aria-hidden="true"></div>
  <aside class="guide-mark" aria-label="First steps"><p><b>${step + 1}</b> ${words}</p>
    <p class="guide-buttons"><button type="button" class="quiet" @click=${() => go(DONE)}>No more of these</button>
    <button type="button" class="primary" @click=${() => go(step + 1)}>${step + 1 === of ? "Got it" : `Next, ${step + 2} of ${of}`}</button></p></aside>`;

/** The area that two boxes share, in px². @param {Box} one @param {Box} other */
const shared = (one, other) =>
  Math.max(0, Math.min(one.right, other.right) - Math.max(one.left, other.left)) *
  Math.max(0, Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top));

/** Where the mark may stand: beside what it points at, then along the edges of the window. @param {DOMRect} target @param {DOMRect} own @returns {Box[]} */
function standsFor(target, own) {
  const [right, bottom] = [innerWidth - own.width - GAP, innerHeight - own.height - GAP];
  const lefts = [target.left, target.right - own.width, target.right + GAP, target.left - own.width - GAP];
  const tops = [target.bottom + GAP, target.top - own.height - GAP, target.top, target.bottom - own.height];
  const edges = [0, 1, 2, 3, 4].map((part) => part / 4);
  const xs = [...lefts, ...edges.map((part) => GAP + (right - GAP) * part)];
  const ys = [...tops, ...edges.map((part) => GAP + (bottom - GAP) * part)];
  return xs.flatMap((x) =>
    ys.map((y) => {
      const [left, top] = [Math.max(GAP, Math.min(x, right)), Math.max(GAP, Math.min(y, bottom))];
      return { left, top, right: left + own.width, bottom: top + own.height };
    }),
  );
}

/** Put the ring around a target, and the mark where it covers least of what may be clicked. @param {Element} target */
function put(target) {
  const [ring, mark] = /** @type {HTMLElement[]} */ ([...place.children]);
  const around = target.getBoundingClientRect();
  const clicked = [...document.querySelectorAll(CLICKED)]
    .filter((each) => !place.contains(each))
    .map((each) => each.getBoundingClientRect());
  /** @param {Box} box */
  const cost = (box) =>
    clicked.reduce((sum, each) => sum + 20 * shared(box, each), 0) +
    shared(box, around) +
    Math.hypot(
      (box.left + box.right - around.left - around.right) / 2,
      (box.top + box.bottom - around.top - around.bottom) / 2,
    );
  const stands = standsFor(around, mark.getBoundingClientRect()).map((box) => ({ box, covered: cost(box) }));
  const { box: best } = stands.reduce((a, b) => (b.covered < a.covered ? b : a));
  Object.assign(mark.style, { left: `${best.left}px`, top: `${best.top}px` });
  Object.assign(ring.style, {
    left: `${around.left - 4}px`,
    top: `${around.top - 4}px`,
    width: `${around.width + 8}px`,
    height: `${around.height + 8}px`,
  });
}

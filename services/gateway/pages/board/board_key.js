// @ts-check
// What the signs on a board mean: only those that this board has.
import { html, svg } from "../vendor/lit-html/lit-html.js";
import { countryDot, freeSpace, stack } from "./board_view.js";

/** @import { BoardDrawing } from "../api/openapi.js" */

const SPACE = { x: 17, y: 9, angle: 0, length: 28 };

/** @param {unknown} drawn */
const sample = (drawn) =>
  html`<svg class="sample" viewBox="0 0 34 18" width="51" height="27" aria-hidden="true">${drawn}</svg>`;

/** A space of a gray route. @param {string} kind */
const route = (kind, locomotives = 0) =>
  sample(
    svg`<g class=${`route c-gray ${kind}`}>${freeSpace({ kind, locomotives, color: "gray" }, SPACE, 0)}</g>`,
  );

/** The signs with their meanings. @param {BoardDrawing} board */
function signs({ routes, cities }) {
  const kinds = new Set(routes.map((each) => each.kind));
  const goods = cities.find((city) => city.merchandise);
  /** @type {[boolean, () => unknown, string][]} */
  const all = [
    [true, () => route("rail"), "any one colour"],
    [kinds.has("tunnel"), () => route("tunnel"), "tunnel: it may ask for more cards"],
    [kinds.has("ferry"), () => route("ferry"), "ferry"],
    [
      routes.some((each) => each.locomotives),
      () => route(kinds.has("ferry") ? "ferry" : "rail", 1),
      "takes a locomotive",
    ],
    [
      cities.some((city) => city.country),
      () => sample(svg`<g class="city country" transform="translate(17 9)">${countryDot}</g>`),
      "country: no path leads through",
    ],
    [
      goods !== undefined,
      () => sample(svg`<g transform="translate(6 -2)">${stack(goods?.merchandise ?? null, [4, 3, 2])}</g>`),
      "merchandise: the token on top, in its stack's colour",
    ],
    [true, () => route("closed"), "closed: nobody may claim it"],
  ];
  return all.filter(([isThere]) => isThere);
}

/** The key of a board. @param {BoardDrawing} board */
export const boardKey = (board) =>
  html`<details class="key"><summary>What the signs mean</summary>
  <ul>${signs(board).map(([, sign, meaning]) => html`<li>${sign()} ${meaning}</li>`)}</ul></details>`;

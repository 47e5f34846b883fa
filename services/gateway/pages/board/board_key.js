// What the signs on a board mean: only those that this board has.
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { freeSpace, stack } from "./board_view.js";

const SPACE = { x: 17, y: 9, angle: 0, length: 28 };
const sample = (drawn) => html`<svg class="sample" viewBox="0 0 34 18" width="51" height="27" aria-hidden="true">${drawn}</svg>`;
const route = (kind, locomotives = 0) => sample(svg`<g class=${`route c-gray ${kind}`}>${freeSpace({ kind, locomotives, color: "gray" }, SPACE, 0)}</g>`);

function signs({ routes, cities }) {
  const has = (kind) => routes.some((each) => each.kind === kind);
  const locomotives = routes.some((each) => each.locomotives);
  const goods = cities.find((city) => city.merchandise);
  return [
    [route("rail"), "any one colour"],
    has("tunnel") && [route("tunnel"), "tunnel: it may ask for more cards"],
    has("ferry") && [route("ferry"), "ferry"],
    locomotives && [route(has("ferry") ? "ferry" : "rail", 1), "takes a locomotive"],
    cities.some((city) => city.country) && [sample(svg`<g class="city country" transform="translate(17 9)"><rect class="dot" x="-7" y="-7" width="14" height="14" rx="2"></rect><path class="frontier" d="M-7 0H7M0-7V7"></path></g>`), "country: no path leads through"],
    goods && [sample(svg`<g transform="translate(6 -2)">${stack(goods, [4, 3, 2])}</g>`), "merchandise: the token on top, in its stack's colour"],
    [sample(svg`<g class="route c-gray closed">${freeSpace({ kind: "rail", locomotives: 0, color: "gray" }, SPACE, 0)}</g>`), "closed: nobody may claim it"],
  ].filter(Boolean);
}

/** The key of a board. */
export const boardKey = (drawing) => (drawing ? html`<details class="key"><summary>What the signs mean</summary>
  <ul>${signs(drawing).map(([sign, meaning]) => html`<li>${sign} ${meaning}</li>`)}</ul></details>` : nothing);

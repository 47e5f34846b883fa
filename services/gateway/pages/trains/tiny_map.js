// @ts-check
// A ticket's two cities on a tiny board. The ground is drawn once, with the board, and used by each.
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";

/** @import { BoardDrawing, TicketState } from "../api/openapi.js" */

const WIDTH = 60; // of a tiny board, in pixels that its lines and dots are drawn for

/** What tiny boards lie on: the land, and a line for each route. @param {BoardDrawing} board */
export function ground({ land, routes, cities, width }) {
  const places = new Map(cities.map(({ id, x, y }) => [id, `${x} ${y}`]));
  const lines = routes.map(({ a, b }) => `M${places.get(a)}L${places.get(b)}`).join("");
  return svg`<g id="tiny-ground"><path class="tiny-land" d=${land}></path><path class="tiny-routes" stroke-width=${width / WIDTH} d=${lines}></path></g>`;
}

/** @param {BoardDrawing} board @param {Pick<TicketState, "a" | "b">} ticket */
export function tinyMap({ cities, width, height, land }, { a, b }) {
  const ends = [a, b].flatMap((id) => cities.find((city) => city.id === id) ?? []);
  if (ends.length < 2) return nothing;
  const px = width / WIDTH;
  return html`<svg class="tiny ${land ? "" : "plain"}" viewBox=${`0 0 ${width} ${height}`} aria-hidden="true"><use href="#tiny-ground"></use>
    <path class="tiny-line" stroke-width=${2.2 * px} d=${`M${ends.map(({ x, y }) => `${x} ${y}`).join("L")}`}></path>
    ${ends.map(({ x, y }) => svg`<circle class="tiny-end" cx=${x} cy=${y} r=${3.4 * px} stroke-width=${1.2 * px}></circle>`)}</svg>`;
}

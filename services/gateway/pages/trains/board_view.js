// @ts-check
// The board: routes as car spaces, what lies on them, cities with their names; and the key to its signs.
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { when } from "../shared/frame.js";
import { seatLetter, seatName } from "../shared/words.js";
import { ground as tinyGround } from "./tiny_map.js";
import { mark } from "./train_marks.js";
import { lineOf, pointing } from "./viewport.js";

/** @import { BoardDrawing, CarSpace, DrawnCity, DrawnRoute, TableState } from "../api/openapi.js" */

/**
 * What lies on a board, and what may be done there.
 * @typedef {object} BoardModel
 * @property {TableState} table
 * @property {Set<string>} newRoutes
 * @property {Set<string>} legalRoutes
 * @property {Set<string | undefined>} legalCities
 * @property {Set<string>} pointedRoutes
 * @property {Set<string>} pointedCities
 * @property {(routes: string[]) => void} onRoutes the first is the nearest to the pointer
 * @property {(city: string) => void} onCity
 */

const HEIGHT = 9; // of a car space

/** The names of classes, of those that apply. @param {(string | false)[]} names */
const classNames = (...names) => names.filter(Boolean).join(" ");

/** @param {CarSpace} space */
const turned = ({ x, y, angle }) =>
  `translate(${x} ${y}) rotate(${angle > 90 || angle <= -90 ? angle + 180 : angle})`;

/** @param {number} length */
const sleepers = (length) => {
  const [left, half] = [-length / 2 + 1, HEIGHT / 2];
  return svg`<path class="sleepers" d=${`M${left}-${half}h${length - 2}M${left} ${half}h${length - 2}`}></path>`;
};

/**
 * A space where no car lies.
 * @param {Pick<DrawnRoute, "kind" | "color" | "locomotives">} route
 * @param {CarSpace} space
 * @param {number} place
 */
const freeSpace = (route, space, place) =>
  svg`<g transform=${turned(space)}><rect class="space" x=${-space.length / 2} y=${-HEIGHT / 2} width=${space.length} height=${HEIGHT} rx="2"></rect>${route.kind === "tunnel" ? sleepers(space.length) : nothing}<g class="mark" transform="scale(.8)">${mark(place < route.locomotives ? "locomotive" : route.color)}</g></g>`;

/** A claimed route: a ribbon in the colour and pattern of its seat, with its letter. @param {DrawnRoute} route @param {number} seat */
function ribbon(route, seat) {
  const [line, middle] = [lineOf(route), route.spaces[Math.floor(route.spaces.length / 2)]];
  return svg`<g class="ribbon piece s-${seat}">
    <path class="casing" d=${line}></path><path class="band" d=${line}></path><path class="pattern" d=${line}></path>
    <g transform=${`translate(${middle.x} ${middle.y})`}><circle class="plate" r="6.2"></circle><text class="number" y="3.2">${seatLetter(seat)}</text></g></g>`;
}

/**
 * Merchandise: the stack's colour with its mark, and the token on top.
 * @param {string | null} color
 * @param {number[]} tokens
 */
const stack = (color, tokens) => svg`<g class="tokens c-${color}" transform="translate(10 10)">
  ${tokens.slice(1, 4).map((_, place, rest) => svg`<circle class="below" cx=${(rest.length - place) * 1.6} cy=${(rest.length - place) * 1.6} r="6.8"></circle>`)}
  <circle class="top" r="6.8"></circle><text class="number" y="3.2">${tokens[0]}</text></g>`;

/** @param {DrawnRoute} route @param {BoardModel} model */
function routeShape(route, model) {
  const { table } = model;
  const { id, spaces } = route;
  const owner = table.seats[table.routes[id]];
  const [isLegal, line] = [model.legalRoutes.has(id), lineOf(route)];
  const classes = classNames(
    `route c-${route.color} ${route.kind}`,
    owner && "owned",
    isLegal && "legal",
    !owner && !isLegal && model.legalRoutes.size > 0 && "paled",
    table.closed.includes(id) && "closed",
    model.pointedRoutes.has(id) && "marked",
    model.newRoutes.has(id) && "latest",
  );
  return svg`<g class=${classes} data-route=${id}><title>${route.title}${owner ? `; ${seatName(owner)} has it` : isLegal ? "; you can claim it" : ""}</title><path class="way" d=${line}></path><path class="hit" pathLength="1" d=${line}></path>${owner ? ribbon(route, owner.seat) : spaces.map((space, place) => freeSpace(route, space, place))}</g>`;
}

/** A dead end: no path leads through. */
const countryDot = svg`<rect class="dot" x="-7" y="-7" width="14" height="14" rx="2"></rect><path class="frontier" d="M-7 0H7M0-7V7"></path>`;

/** @param {number} seat */
const station = (seat) =>
  svg`<g class="station s-${seat}"><rect x="-8" y="-8" width="16" height="16" rx="3"></rect><text class="number" y="4">${seatLetter(seat)}</text></g>`;

/** @param {number} seat */
const passenger = (
  seat,
) => svg`<g class="passenger s-${seat}" transform="translate(-10 -10)"><g class="piece"><circle r="8"></circle><g transform="translate(-3 0) scale(.8)">${mark("passenger")}</g>
      <text class="number" x="3.6" y="3">${seatLetter(seat)}</text></g></g>`;

/** @param {DrawnCity} city @param {BoardModel} model */
function cityShape(city, model) {
  const { table } = model;
  const { id } = city;
  const builder = table.seats[table.stations[id]];
  const sender = table.seats[table.passengers[id]];
  const tokens = table.tokens[id] ?? [];
  const isLegal = model.legalCities.has(id);
  const isPointed = model.pointedCities.has(id);
  const title = [
    city.name,
    city.country ? ", a country: no path leads through" : "",
    tokens.length ? `, ${city.merchandise} merchandise ${tokens.join(", ")}` : "",
    builder ? `, station of ${seatName(builder)}` : "",
    sender ? `, passenger of ${seatName(sender)}` : "",
    isLegal ? "; you can act here" : "",
  ].join("");
  const classes = classNames("city", isLegal && "legal", city.country && "country", isPointed && "marked");
  return svg`<g class=${classes} data-city=${id} transform=${`translate(${city.x} ${city.y})`} @click=${isLegal ? () => model.onCity(id) : null}>
    <title>${title}</title>
    ${isPointed ? svg`<circle class="halo" r="13"></circle>` : nothing}
    <circle class="hit" r="11"></circle>
    ${city.country ? countryDot : svg`<circle class="dot" r="5.2"></circle>`}
    ${when(builder, ({ seat }) => station(seat))}
    ${tokens.length ? stack(city.merchandise, tokens) : nothing}
    ${when(sender, ({ seat }) => passenger(seat))}
  </g>`;
}

const FAR_OFF = 12; // of a name from the middle of its city: then a line leads there
const [ABOVE, BELOW] = [10.5, 1.5]; // the box of a name, from its baseline

/** The line from a city to its name that stands far off; nothing where it is near. @param {DrawnCity} city */
function leader({ x, y, label: { x: middle, y: baseline, width } }) {
  const toX = Math.min(Math.max(x, middle - width / 2), middle + width / 2);
  const toY = Math.min(Math.max(y, baseline - ABOVE), baseline + BELOW);
  if (Math.hypot(toX - x, toY - y) < FAR_OFF) return nothing;
  return svg`<line class="leader" x1=${x} y1=${y} x2=${toX} y2=${toY}></line>`;
}

/** @param {DrawnCity} city */
const label = ({ name, label: { x, y, width } }) =>
  svg`<text class="name" x=${x} y=${y} textLength=${width} lengthAdjust="spacingAndGlyphs">${name}</text>`;

/** @type {{ board?: BoardDrawing, drawn?: unknown }} */
let ground = {};

/** What tiny boards lie on, made once for a board. @param {BoardDrawing} board */
function groundOf(board) {
  if (ground.board !== board) ground = { board, drawn: tinyGround(board) };
  return ground.drawn;
}

/** The board. @param {BoardDrawing} board @param {BoardModel} model */
export function boardView(board, model) {
  const claimed = Object.keys(model.table.routes).length;
  const on = pointing(board, model.legalRoutes, model.onRoutes);
  return html`<svg class="board ${board.land ? "" : "plain"}" viewBox=${`0 0 ${board.width} ${board.height}`} role="img" aria-label=${`Map of ${board.title}; ${claimed} of ${board.routes.length} routes claimed`}
  @wheel=${on.wheel} @pointerdown=${on.down} @pointermove=${on.move} @pointerup=${on.up} @pointercancel=${on.up} @pointerleave=${on.up} @click=${on.click} @dblclick=${on.doubleClick}>
  <rect class="sea" width=${board.width} height=${board.height}></rect>
  <path class="land" d=${board.land}></path>
  ${groundOf(board)}
  <g class="routes">${board.routes.map((route) => routeShape(route, model))}</g>
  <g aria-hidden="true">${board.cities.map(leader)}</g>
  <g class="cities">${board.cities.map((city) => cityShape(city, model))}</g>
  <g class="names" aria-hidden="true">${board.cities.map(label)}</g>
</svg>`;
}

const SAMPLE = { x: 17, y: 9, angle: 0, length: 28 };

/** @param {unknown} drawn */
const sample = (drawn) =>
  html`<svg class="sample" viewBox="0 0 34 18" width="51" height="27" aria-hidden="true">${drawn}</svg>`;

/** A space of a gray route. @param {string} kind */
const graySpace = (kind, locomotives = 0) =>
  sample(
    svg`<g class=${`route c-gray ${kind}`}>${freeSpace({ kind, locomotives, color: "gray" }, SAMPLE, 0)}</g>`,
  );

/** The signs with their meanings. @param {BoardDrawing} board */
function signs({ routes, cities }) {
  const kinds = new Set(routes.map((each) => each.kind));
  const goods = cities.find((city) => city.merchandise);
  /** @type {[boolean, () => unknown, string][]} */
  const all = [
    [true, () => graySpace("rail"), "any one colour"],
    [kinds.has("tunnel"), () => graySpace("tunnel"), "tunnel: it may ask for more cards"],
    [kinds.has("ferry"), () => graySpace("ferry"), "ferry"],
    [
      routes.some((each) => each.locomotives),
      () => graySpace(kinds.has("ferry") ? "ferry" : "rail", 1),
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
    [true, () => graySpace("closed"), "closed: nobody may claim it"],
  ];
  return all.filter(([isThere]) => isThere);
}

/** The key of a board. @param {BoardDrawing} board */
export const boardKey = (board) =>
  html`<details class="key"><summary>What the signs mean</summary>
  <ul>${signs(board).map(([, sign, meaning]) => html`<li>${sign()} ${meaning}</li>`)}</ul></details>`;

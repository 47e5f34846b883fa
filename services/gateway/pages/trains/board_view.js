// @ts-check
// The board: routes as car spaces, what lies on them, cities with their names; and the key to its signs.
import { html, nothing, render, svg } from "../vendor/lit-html/lit-html.js";
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

/** Where a place of a space lies on the board, by how far it is along the space and across from its middle. @param {CarSpace} space */
function within({ x, y, angle }) {
  const [cos, sin] = [Math.cos, Math.sin].map((of) => of((angle * Math.PI) / 180));
  return (/** @type {number} */ along, /** @type {number} */ across) =>
    `${(x + along * cos - across * sin).toFixed(1)} ${(y + along * sin + across * cos).toFixed(1)}`;
}

/** The outline of a space, with round corners. @param {CarSpace} space @param {number} round */
function outline(space, round) {
  const [at, half, side] = [within(space), space.length / 2, HEIGHT / 2];
  const corner = `A${round} ${round} 0 0 1 `;
  return `M${at(round - half, -side)}L${at(half - round, -side)}${corner}${at(half, round - side)}L${at(half, side - round)}${corner}${at(half - round, side)}L${at(round - half, side)}${corner}${at(-half, side - round)}L${at(-half, round - side)}${corner}${at(round - half, -side)}Z`;
}

/** The sleepers of a tunnel's space. @param {CarSpace} space */
function sleepers(space) {
  const [at, end, side] = [within(space), space.length / 2 - 1, HEIGHT / 2];
  return `M${at(-end, -side)}L${at(end, -side)}M${at(-end, side)}L${at(end, side)}`;
}

/** A line through the middles of some spaces, at whose corners marks stand. @param {CarSpace[]} spaces */
function middles(spaces) {
  if (!spaces.length) return "";
  const [first, last] = [spaces[0], spaces[spaces.length - 1]];
  const line = [
    within(first)(-first.length / 2, 0),
    ...spaces.map((space) => within(space)(0, 0)),
    within(last)(last.length / 2, 0),
  ];
  return `M${(Math.abs(first.angle) > 90 ? line.toReversed() : line).join("L")}`; // no mark upside down
}

/**
 * The lines of a route, each computed once: of all its spaces together, as every shape of its own costs time at each drawing.
 * @type {WeakMap<object, { line: string, outlines: string, sleepers: string, marks: [string, string][] }>}
 */
const lines = new WeakMap();

/** @param {Pick<DrawnRoute, "kind" | "color" | "locomotives" | "spaces">} route */
function linesOf(route) {
  const { kind, color, locomotives, spaces } = route;
  const known = lines.get(route);
  if (known) return known;
  const found = {
    line: lineOf(route),
    outlines: spaces.map((space) => outline(space, kind === "ferry" ? HEIGHT / 2 : 2)).join(""),
    sleepers: kind === "tunnel" ? spaces.map(sleepers).join("") : "",
    marks: /** @type {[string, string][]} */ ([
      ["locomotive", middles(spaces.slice(0, locomotives))],
      [color, middles(spaces.slice(locomotives))],
    ]),
  };
  lines.set(route, found);
  return found;
}

/** The spaces of a route where no car lies. @param {Pick<DrawnRoute, "kind" | "color" | "locomotives" | "spaces">} route */
function freeSpaces(route) {
  const { outlines, sleepers: ties, marks } = linesOf(route);
  return svg`<path class="space" d=${outlines}></path>${ties ? svg`<path class="sleepers" d=${ties}></path>` : nothing}${marks.map(([name, d]) => (d && name !== "gray" ? svg`<path class="marks" d=${d} marker-mid=${`url(#mark-${name})`}></path>` : nothing))}`;
}

/** The marks that stand on spaces. @param {BoardDrawing} board */
const markers = ({ routes }) =>
  ["locomotive", ...new Set(routes.map(({ color }) => color))].map(
    (name) =>
      svg`<marker id=${`mark-${name}`} class=${`c-${name}`} viewBox="-6 -6 12 12" markerWidth="9.6" markerHeight="9.6" markerUnits="userSpaceOnUse" orient="auto"><g class="mark">${mark(name)}</g></marker>`,
  );

/** A claimed route: a ribbon in the colour and pattern of its seat, with its letter. @param {DrawnRoute} route @param {number} seat */
function ribbon(route, seat) {
  const [{ line }, { x, y }] = [linesOf(route), route.spaces[Math.floor(route.spaces.length / 2)]];
  return svg`<g class="ribbon piece s-${seat}">
    <path class="casing" d=${line}></path><path class="band" d=${line}></path><path class="pattern" d=${line}></path>
    <circle class="plate" cx=${x} cy=${y} r="6.2"></circle><text class="number" x=${x} y=${y + 3.2}>${seatLetter(seat)}</text></g>`;
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
  const { id } = route;
  const owner = table.seats[table.routes[id]];
  const [isLegal, { line }] = [model.legalRoutes.has(id), linesOf(route)];
  const classes = classNames(
    `route c-${route.color} ${route.kind}`,
    owner && "owned",
    isLegal && "legal",
    !owner && !isLegal && model.legalRoutes.size > 0 && "paled",
    table.closed.includes(id) && "closed",
    model.pointedRoutes.has(id) && "marked",
    model.newRoutes.has(id) && "latest",
  );
  return svg`<g class=${classes} data-route=${id}><title>${route.title}${owner ? `; ${seatName(owner)} has it` : isLegal ? "; you can claim it" : ""}</title><path class="way" d=${line}></path><path class="hit" pathLength="1" d=${line}></path>${owner ? ribbon(route, owner.seat) : freeSpaces(route)}</g>`;
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

/** What tiny boards lie on, and the marks, made once for a board. @param {BoardDrawing} board */
function groundOf(board) {
  if (ground.board !== board)
    ground = { board, drawn: svg`<defs>${tinyGround(board)}${markers(board)}</defs>` };
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

const SAMPLE = [{ x: 17, y: 9, angle: 0, length: 28 }];

/** @param {unknown} drawn */
const sample = (drawn) =>
  html`<svg class="sample" viewBox="0 0 34 18" width="51" height="27" aria-hidden="true">${drawn}</svg>`;

/** A space of a gray route. @param {string} kind */
const graySpace = (kind, locomotives = 0) =>
  sample(
    svg`<g class=${`route c-gray ${kind}`}>${freeSpaces({ kind, locomotives, color: "gray", spaces: SAMPLE })}</g>`,
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

/** The key of a board, drawn when it is opened. @param {BoardDrawing} board */
export function boardKey(board) {
  /** @param {{ currentTarget: HTMLElement }} event */
  const drawSigns = ({ currentTarget }) =>
    render(
      signs(board).map(([, sign, meaning]) => html`<li>${sign()} ${meaning}</li>`),
      /** @type {HTMLElement} */ (currentTarget.lastElementChild),
    );
  return html`<details class="key" @toggle=${drawSigns}><summary>What the signs mean</summary><ul></ul></details>`;
}

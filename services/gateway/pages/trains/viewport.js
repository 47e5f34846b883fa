// @ts-check
// What part of a board is seen, and which route a pointer means: pinch, wheel, double tap, drag, keys and buttons. What is seen is the drawing's viewBox.

/** @import { BoardDrawing, DrawnRoute } from "../api/openapi.js" */

/** @typedef {{ x: number, y: number }} Place */
/** @typedef {MouseEvent & { currentTarget: SVGSVGElement, target: Element }} BoardEvent */

const MOST = 8; // times as large as all of the board
const STEP = 1.4; // of a key, a button, or the wheel
const REACH_PX = 12; // of a pointer to the line of a route: 24 px are hit
const DRAG_PX = 5; // from which on a pointer drags, and doesn't click
const PAN = 0.15; // of what is seen, for an arrow key

/** @type {Map<number, Place>} */
const pointers = new Map(); // that are down
let moved = 0; // px, since the first of them came down

/** The corners of a route: the ends of its spaces. @param {Pick<DrawnRoute, "spaces">} route @returns {Place[]} */
const cornersOf = ({ spaces }) =>
  spaces.flatMap(({ x, y, angle, length }) => {
    const [dx, dy] = [Math.cos, Math.sin].map((turn) => (turn((angle * Math.PI) / 180) * length) / 2);
    return [
      { x: x - dx, y: y - dy },
      { x: x + dx, y: y + dy },
    ];
  });

/** A line along a route, from the begin of its first space to the end of its last. @param {Pick<DrawnRoute, "spaces">} route */
export const lineOf = (route) =>
  `M${cornersOf(route)
    .map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`)
    .join("L")}`;

/** How far a place is from the line between two others. @param {Place} place @param {Place} a @param {Place} b */
function distance({ x, y }, a, b) {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const share = Math.max(0, Math.min(1, ((x - a.x) * dx + (y - a.y) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - a.x - share * dx, y - a.y - share * dy);
}

/** Where on the board a pointer is. @param {SVGSVGElement} svg @param {Place} client */
const placeOf = (svg, { x, y }) => new DOMPoint(x, y).matrixTransform(svg.getScreenCTM()?.inverse());

/** @param {MouseEvent} event */
const clientOf = ({ clientX, clientY }) => ({ x: clientX, y: clientY });

/**
 * The routes that a pointer may mean, the nearest first: a finger those within its reach, a mouse only the nearest.
 * @param {BoardEvent} event
 * @param {BoardDrawing} board
 * @param {Set<string>} among
 */
function routesAt(event, board, among) {
  const svg = event.currentTarget;
  const place = placeOf(svg, clientOf(event));
  const reach = REACH_PX / (svg.getScreenCTM()?.a || 1);
  const near = board.routes
    .filter(({ id }) => among.has(id))
    .map((route) => {
      const corners = cornersOf(route);
      const far = corners.slice(1).map((corner, at) => distance(place, corners[at], corner));
      return { id: route.id, far: Math.min(...far) };
    })
    .filter(({ far }) => far <= reach)
    .toSorted((a, b) => a.far - b.far)
    .map(({ id }) => id);
  return "pointerType" in event && event.pointerType === "touch" ? near : near.slice(0, 1);
}

/**
 * Show a part of the board that begins there, so many times as large as all of it.
 * @param {SVGSVGElement} svg
 * @param {BoardDrawing} board
 * @param {Place} from
 * @param {number} times
 */
function show(svg, board, from, times) {
  const [width, height] = [board.width / times, board.height / times];
  const x = Math.max(0, Math.min(board.width - width, from.x));
  const y = Math.max(0, Math.min(board.height - height, from.y));
  svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
  svg.toggleAttribute("data-zoomed", times > 1);
}

/** How many times as large the board is seen. @param {SVGSVGElement} svg @param {BoardDrawing} board */
const timesOf = (svg, board) => board.width / svg.viewBox.baseVal.width;

/**
 * Zoom so that a place of the board stays where it is.
 * @param {SVGSVGElement} svg
 * @param {BoardDrawing} board
 * @param {number} factor
 * @param {Place} [place] else the middle of what is seen
 */
function zoom(svg, board, factor, place) {
  const seen = svg.viewBox.baseVal;
  const before = timesOf(svg, board);
  const times = Math.max(1, Math.min(MOST, before * factor));
  const { x, y } = place ?? { x: seen.x + seen.width / 2, y: seen.y + seen.height / 2 };
  const share = before / times;
  show(svg, board, { x: x - (x - seen.x) * share, y: y - (y - seen.y) * share }, times);
  return times !== before;
}

/** @param {SVGSVGElement} svg @param {BoardDrawing} board @param {number} dx @param {number} dy in units of the board */
function pan(svg, board, dx, dy) {
  const { x, y } = svg.viewBox.baseVal;
  show(svg, board, { x: x + dx, y: y + dy }, timesOf(svg, board));
}

/** Drag with one pointer, pinch with two. @param {BoardEvent & PointerEvent} event @param {BoardDrawing} board */
function drag(event, board) {
  const before = pointers.get(event.pointerId);
  const svg = event.currentTarget;
  if (!before) return;
  const after = clientOf(event);
  moved += Math.hypot(after.x - before.x, after.y - before.y);
  if (moved > DRAG_PX) svg.setPointerCapture(event.pointerId);
  const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
  if (other) {
    /** @param {Place} place */
    const span = (place) => Math.hypot(place.x - other.x, place.y - other.y) || 1;
    const middle = { x: (after.x + other.x) / 2, y: (after.y + other.y) / 2 };
    zoom(svg, board, span(after) / span(before), placeOf(svg, middle));
  } else {
    const [from, to] = [placeOf(svg, before), placeOf(svg, after)];
    pan(svg, board, from.x - to.x, from.y - to.y);
  }
  pointers.set(event.pointerId, after);
}

/** @param {{ currentTarget: SVGSVGElement }} event @param {string | undefined} route */
function pointOut({ currentTarget }, route) {
  for (const shape of currentTarget.querySelectorAll("[data-over]")) shape.removeAttribute("data-over");
  if (route)
    currentTarget.querySelector(`[data-route="${CSS.escape(route)}"]`)?.setAttribute("data-over", "");
  currentTarget.style.cursor = route ? "pointer" : "";
}

/**
 * What a board listens to.
 * @param {BoardDrawing} board
 * @param {Set<string>} routes that may be meant
 * @param {(routes: string[]) => void} act
 */
export const pointing = (board, routes, act) => ({
  /** @param {BoardEvent & WheelEvent} event */
  wheel: (event) => {
    const factor = event.deltaY < 0 ? STEP : 1 / STEP;
    if (zoom(event.currentTarget, board, factor, placeOf(event.currentTarget, clientOf(event))))
      event.preventDefault();
  },
  /** @param {BoardEvent & PointerEvent} event */
  down: (event) => {
    if (event.isPrimary) {
      pointers.clear();
      moved = 0;
    }
    pointers.set(event.pointerId, clientOf(event));
  },
  /** @param {BoardEvent & PointerEvent} event */
  move: (event) =>
    pointers.size
      ? drag(event, board)
      : pointOut(event, event.pointerType === "mouse" ? routesAt(event, board, routes)[0] : undefined),
  /** @param {PointerEvent} event */
  up: (event) => pointers.delete(event.pointerId),
  /** @param {BoardEvent} event */
  doubleClick: (event) =>
    zoom(event.currentTarget, board, STEP * STEP, placeOf(event.currentTarget, clientOf(event))),
  /** @param {BoardEvent} event */
  click: (event) => {
    if (moved > DRAG_PX || event.target.closest(".city.legal")) return;
    const meant = routesAt(event, board, routes);
    if (meant.length) act(meant);
  },
});

/** The board of a frame. @param {Element} frame */
const boardIn = (frame) => /** @type {SVGSVGElement} */ (frame.querySelector("svg.board"));

/** Zoom in a frame by a button: +, - or 0 for all of the board. @param {Element} frame @param {BoardDrawing} board @param {string} key */
export function zoomBy(frame, board, key) {
  const svg = boardIn(frame);
  if (key === "0") show(svg, board, { x: 0, y: 0 }, 1);
  else zoom(svg, board, key === "-" ? 1 / STEP : STEP);
}

/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Zoom and pan by keys, while the frame has the focus. @param {KeyboardEvent & { currentTarget: Element, target: Element }} event @param {BoardDrawing} board */
export function moveByKey(event, board) {
  const { key, currentTarget, target } = event;
  if (target !== currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
  const { width, height } = boardIn(currentTarget).viewBox.baseVal;
  if (["+", "=", "-", "0"].includes(key)) zoomBy(currentTarget, board, key);
  else if (key in ARROWS)
    pan(boardIn(currentTarget), board, ARROWS[key][0] * PAN * width, ARROWS[key][1] * PAN * height);
  else return;
  event.preventDefault();
}

// @ts-check
// What changed between two tables, moved: the page shows the new table first, and only then its pieces move into place.
import { render } from "../vendor/lit-html/lit-html.js";
import { PAINTED_MS } from "../table/pacing.js";
import { card } from "./train_marks.js";

/** @import { TableState } from "../api/openapi.js" */

const MOST_ENTRIES = 12; // more than these aren't animated: the table was away for long
const STEP_MS = 70;
/** @type {KeyframeAnimationOptions} */
const EASE = { duration: 320, easing: "cubic-bezier(.2, .8, .3, 1)", fill: "backwards" };
const DROP = [
  { transform: "translateY(-16px)", opacity: 0 },
  { transform: "none", opacity: 1 },
];
const DEAL = [{ transform: "translateX(-22px)" }, { transform: "none" }];
const SWELL = [{ transform: "none" }, { transform: "scale(1.12)" }, { transform: "none" }];

/** The keys that only the second of two has, for a selector. @param {object} before @param {object} after */
const newKeys = (before, after) =>
  Object.keys(after)
    .filter((key) => !(key in before))
    .map(CSS.escape);

/** @param {Element | null} element */
const middle = (element) => {
  const { x, y, width, height } = element?.getBoundingClientRect() ?? new DOMRect();
  return [x + width / 2, y + height / 2];
};

/**
 * A card flies from where it lay to who drew it: it is drawn for as long as that takes.
 * @param {string} color
 * @param {Element | null} from
 * @param {Element | null} to
 */
function fly(color, from, to) {
  if (!from || !to) return;
  const holder = document.createElement("div");
  holder.className = "tray flying";
  holder.inert = true;
  render(card(color), holder);
  document.body.append(holder);
  const [[x, y], [toX, toY]] = [middle(from), middle(to)];
  const frames = [
    { transform: `translate(${x}px, ${y}px) translate(-50%, -50%)` },
    { transform: `translate(${toX}px, ${toY}px) translate(-50%, -50%) scale(.4)` },
  ];
  const flight = holder.animate(frames, { duration: 380, easing: "ease-in-out" });
  flight.finished.finally(() => holder.remove());
}

/**
 * The cards that seats have drawn fly to them: from their place in the market, or from the deck.
 * @param {TableState} before
 * @param {TableState} after
 * @param {HTMLElement} root
 */
function flyCards(before, after, root) {
  const seat = after.seats.find(({ seat: each, cards }) => cards > before.seats[each].cards);
  if (!seat || after.turn === null) return;
  const slot = after.market.findIndex((color, place) => color !== before.market[place]);
  const from = root.querySelector(slot < 0 ? ".market .deck" : `.market li:nth-child(${slot + 2})`);
  fly(
    slot < 0 ? "gray" : (before.market[slot] ?? "gray"),
    from,
    root.querySelector(seat.seat === after.viewer ? ".hand .cards" : `.seat[data-seat="${seat.seat}"]`),
  );
}

/**
 * Move what is new in `after`, which is drawn already.
 * @param {TableState} before
 * @param {TableState} after
 * @param {HTMLElement} root
 */
export function animate(before, after, root) {
  const passed = after.number - before.number;
  if (passed <= 0 || passed > MOST_ENTRIES || document.visibilityState !== "visible") return;
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  /** @param {string} selector @param {Keyframe[]} frames */
  const move = (selector, frames) => {
    for (const [place, element] of root.querySelectorAll(selector).entries())
      element.animate(frames, { ...EASE, delay: place * STEP_MS });
  };
  for (const route of newKeys(before.routes, after.routes)) move(`[data-route="${route}"] .piece`, DROP);
  for (const city of newKeys(before.stations, after.stations)) move(`[data-city="${city}"] .station`, DROP);
  for (const city of newKeys(before.passengers, after.passengers))
    move(`[data-city="${city}"] .passenger .piece`, DROP);
  for (const [slot, color] of after.market.entries()) {
    if (color !== before.market[slot]) move(`.market li:nth-child(${slot + 2}) .card`, DEAL);
  }
  if (after.viewer !== before.viewer) return;
  if (passed === 1) setTimeout(flyCards, PAINTED_MS, before, after, root);
  for (const [color, count] of Object.entries(after.hand ?? {})) {
    if (count > (before.hand?.[color] ?? 0)) move(`.hand .card.c-${CSS.escape(color)}`, SWELL);
  }
  for (const { seat, points } of after.seats)
    if (points > before.seats[seat].points) move(`.seat[data-seat="${seat}"] .points b`, SWELL);
}

// @ts-check
// What changed between two tables, moved: the page shows the new table first, and only then its pieces move into place.

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
  for (const [color, count] of Object.entries(after.hand ?? {})) {
    if (count > (before.hand?.[color] ?? 0)) move(`.hand .card.c-${CSS.escape(color)}`, SWELL);
  }
  for (const { seat, points } of after.seats)
    if (points > before.seats[seat].points) move(`.seat[data-seat="${seat}"] .points b`, SWELL);
}

// What changed between two tables, moved: the page shows the new table first, and only then its pieces move into place.

const MOST_ENTRIES = 12; // more than these aren't animated: the table was away for long
const STEP_MS = 70;
const EASE = { duration: 320, easing: "cubic-bezier(.2, .8, .3, 1)", fill: "backwards" };
const DROP = [{ transform: "translateY(-16px)", opacity: 0 }, { transform: "none", opacity: 1 }];
const DEAL = [{ transform: "translateX(-22px)" }, { transform: "none" }];
const SWELL = [{ transform: "none" }, { transform: "scale(1.12)" }, { transform: "none" }];

const newKeys = (before, after) => Object.keys(after ?? {}).filter((key) => !(key in (before ?? {})));

/** Move what is new in `after`, which is drawn already. */
export function animate(before, after, root) {
  if (!before || before.game !== after.game || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const passed = after.number - before.number;
  if (passed <= 0 || passed > MOST_ENTRIES || document.visibilityState !== "visible") return;
  const move = (selector, frames) => root.querySelectorAll(selector).forEach((element, place) => element.animate(frames, { ...EASE, delay: place * STEP_MS }));
  for (const route of newKeys(before.routes, after.routes)) move(`[data-route="${CSS.escape(route)}"] .piece`, DROP);
  for (const city of newKeys(before.stations, after.stations)) move(`[data-city="${CSS.escape(city)}"] .station`, DROP);
  for (const city of newKeys(before.passengers, after.passengers)) move(`[data-city="${CSS.escape(city)}"] .passenger .piece`, DROP);
  after.market.forEach((color, slot) => color !== before.market[slot] && move(`.market li:nth-child(${slot + 2}) .card`, DEAL));
  if (after.viewer !== before.viewer) return;
  for (const [color, count] of Object.entries(after.hand ?? {})) {
    if (count > (before.hand?.[color] ?? 0)) move(`.hand .card.c-${CSS.escape(color)}`, SWELL);
  }
  for (const seat of after.seats) if (seat.points > (before.seats[seat.seat]?.points ?? 0)) move(`.seat[data-seat="${seat.seat}"] .points b`, SWELL);
}

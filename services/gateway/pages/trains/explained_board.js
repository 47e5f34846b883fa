// @ts-check
// What a viewer knew of a train game's table, and what an entry changed there, in words.
import { plural, seatName } from "../shared/words.js";
import { cardName } from "./train_marks.js";

/** @import { ExplainedSeat, ExplainedTable } from "../api/openapi.js" */
/** @import { AnyTable } from "../table/table_state.js" */

/** @param {Record<string, number>} counts */
const countsText = (counts) =>
  Object.entries(counts)
    .map(([card, count]) => `${count} ${cardName(card)}`)
    .join(", ");

/** The cards and tickets of a seat, as a viewer knew them. @param {ExplainedSeat} seat */
function holding(seat) {
  const known = Object.fromEntries(
    Object.entries(seat.hand).filter(([card, count]) => card !== "hidden" && count > 0),
  );
  const hidden = seat.cards - Object.values(known).reduce((sum, count) => sum + count, 0);
  const hand = [countsText(known), hidden > 0 && Object.keys(known).length ? `${hidden} face down` : ""]
    .filter(Boolean)
    .join(", ");
  return `${plural(seat.cards, "card")}${hand ? `: ${hand}` : ""}; ${plural(seat.tickets.length, "ticket")}${seat.offer.length ? `; is offered ${seat.offer.length}` : ""}`;
}

/** @param {ExplainedTable} table */
const marketText = ({ market }) =>
  market?.length ? market.map((card) => (card ? cardName(card) : "a gap")).join(", ") : "none";

/** @param {ExplainedTable} table */
function deckText({ deck, next }) {
  const known = (next ?? []).flatMap((card) => card ?? []);
  return `${plural(deck ?? 0, "card")}${known.length ? `; next ${known.map(cardName).join(", ")}` : ""}`;
}

/** What there is, each with its title. @param {ExplainedTable} shown @param {AnyTable} table @returns {[string, string][]} */
export const boardLines = (shown, table) =>
  shown.market
    ? [
        ["The market", marketText(shown)],
        ["The deck", deckText(shown)],
        .../** @type {[string, string][]} */ (
          (shown.seats ?? []).map((seat, place) => [seatName(table.seats[place]), holding(seat)])
        ),
      ]
    : [];

/** @param {ExplainedSeat} seat */
const countsOf = ({ points, cars, cards, tickets }) => ({ points, cars, cards, tickets: tickets.length });

/** What has changed for the seats; undefined where nothing is known of them. @param {ExplainedTable} before @param {ExplainedTable} after @param {AnyTable} table */
export function seatChanges(before, after, table) {
  if (!before.seats || !after.seats) return undefined;
  return before.seats.flatMap((seat, place) => {
    const [was, now] = [seat, /** @type {ExplainedSeat[]} */ (after.seats)[place]].map(countsOf);
    const counts = /** @type {(keyof typeof now)[]} */ (Object.keys(now));
    const changed = counts
      .filter((name) => was[name] !== now[name])
      .map((name) => `${name} ${was[name]} → ${now[name]}`);
    return changed.length ? [`${seatName(table.seats[place])}: ${changed.join(", ")}`] : [];
  });
}

// @ts-check
// The form that makes a table: what is chosen in it so far, and the making.
import { ask, newKey } from "../api/api.js";
import { invitationTo, myName, remember, takeSeat } from "../api/my_games.js";
import { reasonOf } from "../shared/frame.js";
import { yearsOf } from "../shared/words.js";
import { update } from "./lobby_state.js";

/** @import { CreateGameRequest, OptionValue, RulesetDescription, SeatPlan } from "../api/openapi.js" */

/**
 * @typedef {object} CreateForm
 * @property {string} name of the person who makes the table, and takes the first seat that is for one
 * @property {string} age as it was typed, where the table goes by ages
 * @property {string | null} board null where the game is played on none
 * @property {string} ruleset
 * @property {string[]} seats the policy of each seat's bot; empty for a person
 * @property {string} clock
 * @property {boolean} isPublic
 * @property {boolean} suggestions
 * @property {Record<string, OptionValue>} options
 * @property {boolean} isBusy
 * @property {string | null} refusal
 */

/** @type {CreateForm} */
export const form = {
  name: myName(),
  age: "",
  board: "usa",
  ruleset: "usa",
  seats: ["", "greedy"],
  clock: "evening",
  isPublic: false,
  suggestions: true,
  options: {},
  isBusy: false,
  refusal: null,
};

/** @param {Partial<CreateForm>} change */
export function fill(change) {
  Object.assign(form, change);
  update({});
}

/** Choose a game: a ruleset, and the board that it is played on, if any. @param {RulesetDescription} ruleset @param {string | null} board */
export function chooseGame(ruleset, board) {
  const { name, policies, seats_least, seats_most } = ruleset;
  const usual = policies.includes("greedy") ? "greedy" : policies[0];
  const seats = form.seats
    .slice(0, seats_most)
    .map((policy) => (policy && !policies.includes(policy) ? usual : policy));
  while (seats.length < seats_least) seats.push(seats.at(-1) ?? "");
  fill({ board, ruleset: name, seats, options: {}, age: "" });
}

/** @param {number} place @param {string} policy */
export const setSeat = (place, policy) => fill({ seats: form.seats.with(place, policy) });

/** Choose an option; undefined: as usual. @param {string} name @param {OptionValue | undefined} value */
export function setOption(name, value) {
  const { [name]: _, ...others } = form.options;
  const age = name === "order" ? "" : form.age; // asked for anew, where it counts
  fill({ options: value === undefined ? others : { ...others, [name]: value }, age });
}

/** What is asked for: a table by this form. @returns {CreateGameRequest} */
function request() {
  const { board, ruleset, clock, suggestions, options } = form;
  const seats = form.seats.map(
    (policy) => (/** @type {SeatPlan} */ (policy ? { kind: "bot", policy } : { kind: "human" })),
  );
  return {
    ...(board === null ? {} : { board }),
    ruleset,
    seats,
    clock,
    ...(form.isPublic
      ? { visibility: "public" }
      : { visibility: "unlisted", by_invitation: form.seats.includes("") }),
    ...(suggestions ? {} : { suggestions }),
    ...(Object.keys(options).length ? { options } : {}),
  };
}

/** Make the table, take the first seat that is for a person, and go there. */
export async function makeTable() {
  fill({ isBusy: true, refusal: null });
  try {
    const { game, token, invitations } = await ask("POST /games", { body: request(), key: newKey() });
    remember(game, { host: token, invitations });
    const seat = form.seats.indexOf("");
    if (seat >= 0) {
      const more = { invitation: invitationTo(game, seat), age: yearsOf(form.age) };
      await takeSeat(game, seat, form.name.trim(), more);
    }
    location.href = `/table/${game}`;
  } catch (error) {
    fill({ isBusy: false, refusal: reasonOf(error) });
  }
}

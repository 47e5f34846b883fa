// @ts-check
// The ways to a table: a game against bots at once, one with friends, or one whose every part is chosen.
import { ask, newKey } from "../api/api.js";
import { invitationTo, myGame, myName, remember, takeSeat } from "../api/my_games.js";
import { reasonOf } from "../shared/frame.js";
import { yearsOf } from "../shared/words.js";
import { seatsFor, strengthsOf, usualStrength } from "./bots.js";
import { onceBack, update, USUAL_BOARD } from "./lobby_state.js";

/** @import { CreateGameRequest, OptionValue, RulesetDescription, SeatPlan } from "../api/openapi.js" */

/**
 * @typedef {object} CreateForm
 * @property {string} name of the person who makes the table, and takes the first seat that is for one
 * @property {string} age as it was typed, where the table goes by ages
 * @property {string | null} board null where the game is played on none
 * @property {string} ruleset
 * @property {string | null} strength the policy of the bots of a game that is played now
 * @property {number} people at a table of friends
 * @property {string[]} seats the policy of each seat's bot; empty for a person
 * @property {string} clock
 * @property {boolean} isPublic
 * @property {boolean | null} suggestions whether seats may ask for hints; null: where one person plays against bots
 * @property {"never" | "consent" | "free"} undo
 * @property {Record<string, OptionValue>} options
 * @property {boolean} isBusy
 * @property {string | null} refusal
 */

const NOBODY = "Guest"; // who has said no name
const NO_HURRY = "days"; // the clock of a game that was begun in one click

/** @type {CreateForm} */
export const form = {
  name: myName(),
  age: "",
  board: USUAL_BOARD,
  ruleset: "usa",
  strength: "greedy",
  people: 2,
  seats: ["", "greedy"],
  clock: "evening",
  isPublic: false,
  suggestions: null,
  undo: "consent",
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
  const isKept = form.strength !== null && strengthsOf(ruleset).includes(form.strength);
  const strength = isKept ? form.strength : usualStrength(ruleset);
  const people = Math.min(Math.max(form.people, fewest(ruleset)), seats_most);
  fill({ board, ruleset: name, strength, people, seats, options: {}, age: "" });
}

/** How many sit at a table that says no more. @param {RulesetDescription} ruleset */
export const fewest = ({ seats_least, seats_most }) => Math.min(Math.max(2, seats_least), seats_most);

/** @param {number} place @param {string} policy */
export const setSeat = (place, policy) => fill({ seats: form.seats.with(place, policy) });

/** Choose an option; undefined: as usual. @param {string} name @param {OptionValue | undefined} value */
export function setOption(name, value) {
  const { [name]: _, ...others } = form.options;
  const age = name === "order" ? "" : form.age; // asked for anew, where it counts
  fill({ options: value === undefined ? others : { ...others, [name]: value }, age });
}

/** The game that is chosen, with these seats, which only who has a link of it finds. @param {SeatPlan[]} seats @returns {CreateGameRequest} */
const chosenGame = (seats) => ({
  ...(form.board === null ? {} : { board: form.board }),
  ruleset: form.ruleset,
  visibility: "unlisted",
  undo: form.undo,
  suggestions: form.suggestions ?? seats.filter(({ kind }) => kind === "human").length < 2,
  seats,
});

/** @type {SeatPlan} */
const PERSON = { kind: "human" };

/** Play at once: as many bots as the game needs. @param {RulesetDescription} ruleset */
export const playNow = (ruleset) =>
  makeTable(
    {
      ...chosenGame([PERSON, ...seatsFor(form.strength ?? "", fewest(ruleset) - 1)]),
      clock: NO_HURRY,
    },
    true,
  );

/** Make a table for friends, who are sent a link. */
export const inviteFriends = () =>
  makeTable({
    ...chosenGame(Array.from({ length: form.people }, () => PERSON)),
    clock: form.clock,
    by_invitation: true,
  });

/** Make the table whose every part was chosen. */
export function makeChosen() {
  const { clock, options } = form;
  const seats = form.seats.map((policy) => (policy ? seatsFor(policy, 1)[0] : PERSON)).map(withoutTwin);
  return makeTable({
    ...chosenGame(seats),
    clock,
    ...(form.isPublic ? { visibility: "public" } : { by_invitation: form.seats.includes("") }),
    ...(Object.keys(options).length ? { options } : {}),
  });
}

/** A bot's seat by another name where an earlier seat has the same. @param {SeatPlan} seat @param {number} place @param {SeatPlan[]} seats */
function withoutTwin(seat, place, seats) {
  const earlier = seats.slice(0, place).filter(({ name }) => name && name === seat.name).length;
  return earlier ? { ...seat, name: `${seat.name} ${earlier + 1}` } : seat;
}

let asked = { text: "", key: "" };

/** The key of asking for a table: asked for again after a refusal of the name, say, it is the one that is there. @param {CreateGameRequest} body */
function keyOf(body) {
  const text = JSON.stringify(body);
  if (asked.text !== text) asked = { text, key: newKey() };
  return asked.key;
}

/** Make a table, take the first seat that is for a person, and go there. @param {CreateGameRequest} body @param {boolean} [isStarted] */
async function makeTable(body, isStarted = false) {
  fill({ isBusy: true, refusal: null });
  try {
    const { game, token, invitations } = await ask("POST /games", { body, key: keyOf(body) });
    remember(game, { host: token, invitations });
    const seat = body.seats.findIndex(({ kind }) => kind === "human");
    if (seat >= 0 && !myGame(game).token) {
      const more = { invitation: invitationTo(game, seat), age: yearsOf(form.age) };
      await takeSeat(game, seat, form.name.trim() || NOBODY, more);
    }
    if (isStarted) await ask("POST /games/{game}/start", { path: { game }, token, key: newKey() });
    asked = { text: "", key: "" };
    location.href = `/table/${game}`;
  } catch (error) {
    fill({ isBusy: false, refusal: reasonOf(error) });
    onceBack(error, () => fill({ refusal: null }));
  }
}

addEventListener("pageshow", () => fill({ isBusy: false })); // a browser goes back to the page as it was left

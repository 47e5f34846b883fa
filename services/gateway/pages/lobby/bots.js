// @ts-check
// The bots that a person may play against: a name and a sentence for each policy, and up to three strengths of a game.

/** @import { RulesetDescription, SeatPlan } from "../api/openapi.js" */

/** How a policy is shown to people. @typedef {{ name: string, strength: string, meaning: string }} Bot */
/** @typedef {Exclude<SeatPlan["policy"], null | undefined>} Policy */

/** @type {Record<string, Bot>} */
const BOTS = {
  random: { name: "Robin", strength: "Easy", meaning: "Plays by chance: good for a first game." },
  greedy: {
    name: "Greta",
    strength: "Medium",
    meaning: "Takes the straightest way, and what scores most now.",
  },
  planner: {
    name: "Paul",
    strength: "Hard",
    meaning: "Plans the whole game, and counts what you leave open.",
  },
  searcher: {
    name: "Selma",
    strength: "Hard",
    meaning: "Plays every move out in mind first; takes seconds.",
  },
  "hold-10": { name: "Hanna", strength: "Medium", meaning: "Saves ten cards, then builds." },
  "buy-now": { name: "Bruno", strength: "Medium", meaning: "Buys whatever can be paid for at once." },
};
const STRENGTHS = [["random"], ["greedy"], ["planner", "searcher"]]; // the fast one of two that are as strong
const MOST = 3;

/** What people are told of a policy; one that only its game knows has its own name. @param {string} policy @returns {Bot} */
export const botOf = (policy) =>
  BOTS[policy] ?? { name: policy, strength: "Special", meaning: "A bot that this game brings." };

/** The policies that are offered at once, the easiest first. @param {RulesetDescription} ruleset */
export function strengthsOf({ policies }) {
  const usual = STRENGTHS.flatMap((names) => names.find((name) => policies.includes(name)) ?? []);
  const own = policies.filter((name) => !(name in BOTS));
  return [...usual, ...own].slice(0, MOST);
}

/** The policy that is meant while nobody has chosen: the middle one. @param {RulesetDescription} ruleset */
export function usualStrength(ruleset) {
  const strengths = strengthsOf(ruleset);
  return strengths[Math.floor(strengths.length / 2)] ?? null;
}

/** Seats for some bots of a policy, each with a name of its own. @param {string} policy @param {number} count @returns {SeatPlan[]} */
export const seatsFor = (policy, count) =>
  Array.from({ length: count }, (_, place) => ({
    kind: /** @type {const} */ ("bot"),
    policy: /** @type {Policy} */ (policy),
    name: place ? `${botOf(policy).name} ${place + 1}` : botOf(policy).name,
  }));

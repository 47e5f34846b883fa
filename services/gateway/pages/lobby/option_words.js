// @ts-check
// The options that people choose, in groups, in words and units; all others are for the API alone.

import { BOARD_OPTIONS } from "../trains/board_options.js";

/** @import { OptionDescription } from "../api/openapi.js" */
/** @typedef {readonly [group: string, title: string, unit?: string]} Words */

/** @type {Record<string, Words>} */
const WORDS = {
  order: ["The table", "Who begins"],
  play_off: ["The table", "Play-off of a shared first place", "games at most"],
  ...BOARD_OPTIONS,
};
// Of every game: the form has seats and clocks, and programs have the rest.
const OF_PROGRAMS = new Set(["seats_least", "seats_most", "clock_ms", "move_ms", "strict", "refusals_kept"]);
/** @type {Record<string, string>} */
const VALUES = { seated: "by seat", age: "the oldest", youngest: "the youngest" };

/** @param {string} value */
export const valueWords = (value) => VALUES[value] ?? value;

/**
 * The options of a ruleset that people choose, by group. A game of another package has its own ones by their names; where a
 * game has many, only those with words are shown.
 * @param {OptionDescription[]} options
 */
export function optionGroups(options) {
  const isOwn = !options.some(({ name }) => name in WORDS && WORDS[name][0] !== "The table");
  const shown = options.filter(({ name }) => name in WORDS || (isOwn && !OF_PROGRAMS.has(name)));
  const named = shown.map((option) => {
    const [group, title, unit = ""] = WORDS[option.name] ?? ["This game", option.name.replaceAll("_", " ")];
    return { option, group, title, unit };
  });
  return [...Map.groupBy(named, ({ group }) => group)];
}

// @ts-check
// What the lobby says of the train games: their options that people choose, and what a board has.
import { plural } from "../shared/words.js";

/** @import { ListedBoard } from "../api/openapi.js" */

/** @type {Record<string, readonly [group: string, title: string, unit?: string]>} */
export const BOARD_OPTIONS = {
  cars: ["Length of the game", "Train cars", "each"],
  last_cars: ["Length of the game", "Last turns begin at", "cars or fewer"],
  hand: ["Cards and tickets", "Cards at the start", "each"],
  market: ["Cards and tickets", "Open cards", "cards"],
  start_keep: ["Cards and tickets", "Tickets to keep at the start", "at least"],
  draw_keep: ["Cards and tickets", "Tickets to keep later", "at least"],
  longest_bonus: ["Points", "For the longest trail", "points"],
  most_tickets_bonus: ["Points", "For most tickets made", "points"],
  station_points: ["Points", "For each station not built", "points"],
};

/** @param {ListedBoard} board */
export const boardFact = ({ cities }) => plural(cities, "city", "cities");

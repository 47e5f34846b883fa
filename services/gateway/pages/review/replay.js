// @ts-check
// A game looked back through: one entry after the other, at a speed, by turns, as any seat saw it once the game is over.
import { readTable } from "../table/following.js";
import { lastingNotice, movesOf, page, refuse, update } from "../table/table_state.js";

/** @import { Move } from "../api/openapi.js" */
/** @import { AnyTable, Replay } from "../table/table_state.js" */

const PAUSE_MS = 1500; // between entries, at speed 1
const MOST_TABLES = 200; // that were read, and are read no more

/** @type {Map<string, Promise<AnyTable>>} */
const tables = new Map();
/** @type {number | undefined} */
let timer;

/** @param {number} at @param {string | null} [as] */
export function startReplay(at, as = null) {
  tables.clear();
  page.replay = { at, as, speed: 3, isPlaying: false, moves: null };
  return as === null ? seek(at) : seeAs(as);
}

export const endReplay = () =>
  update({ replay: null, table: page.latest, marks: new Set(), notice: lastingNotice(page) });

/** Change the replay that is shown. @param {Partial<Replay>} more @returns {Replay} */
function change(more) {
  const replay = Object.assign(/** @type {Replay} */ (page.replay), more);
  update({});
  return replay;
}

/** Show the table after an entry. @param {number} entry */
export async function seek(entry) {
  const at = Math.max(1, Math.min(page.latest.number, entry));
  const replay = change({ at });
  const { as } = replay;
  try {
    const table = await read(at, as);
    if (page.replay !== replay || replay.at !== at || replay.as !== as) return;
    const move = movesOf(page).find((each) => each.number === at);
    update({ table, marks: new Set(move?.marks) });
    if (replay.isPlaying && at < page.latest.number) read(at + 1, as).catch(() => {});
  } catch (error) {
    replay.isPlaying = false;
    refuse(error);
  }
}

/** @param {number} at @param {string | null} as @param {Record<string, string>} [more] */
function read(at, as, more = {}) {
  const query = { at: String(at), ...(as === null ? {} : { as }), ...more };
  const key = JSON.stringify(query);
  const known = tables.get(key);
  if (known) return known;
  const [oldest] = tables.keys();
  if (tables.size >= MOST_TABLES) tables.delete(oldest);
  const reading = readTable(query);
  reading.catch(() => tables.delete(key));
  tables.set(key, reading);
  return reading;
}

/** See it as a seat did, or the public; null: as oneself. @param {string | null} as */
export async function seeAs(as) {
  const replay = change({ as });
  try {
    replay.moves = as === null ? null : (await read(page.latest.number, as, { since: "0" })).moves;
  } catch (error) {
    replay.as = null;
    refuse(error);
  }
  await seek(replay.at);
}

/** Play it, or pause. From the last entry it begins again. */
export function togglePlaying() {
  const { at, isPlaying } = change({});
  const replay = change({ isPlaying: !isPlaying, at: !isPlaying && at >= page.latest.number ? 0 : at });
  return tick(replay);
}

/** @param {Replay} replay */
async function tick(replay) {
  if (!replay.isPlaying || page.replay !== replay) return;
  if (replay.at >= page.latest.number) {
    change({ isPlaying: false });
    return;
  }
  await seek(replay.at + 1);
  clearTimeout(timer);
  timer = setTimeout(() => tick(replay), PAUSE_MS / replay.speed);
}

/** @param {number} speed */
export const setSpeed = (speed) => change({ speed });

/** Show the beginning of the turn before or after. @param {Replay} replay @param {-1 | 1} step */
export function seekTurn({ at }, step) {
  const moves = movesOf(page);
  const starts = moves.filter((move, place) => move.turn > 0 && moves[place - 1]?.turn !== move.turn);
  const numbers = starts.map((move) => move.number);
  if (step < 0) return seek(numbers.findLast((number) => number < at) ?? 1);
  return seek(numbers.find((number) => number > at) ?? page.latest.number);
}

/**
 * The move of a seat that earned the most points; undefined where none earned any.
 * @param {Move[]} moves
 * @param {number} seat
 */
export const bestMove = (moves, seat) =>
  moves.filter((move) => move.seat === seat && move.points > 0).toSorted((a, b) => b.points - a.points)[0];

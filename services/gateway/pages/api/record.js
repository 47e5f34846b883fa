// @ts-check
// The record of this device: the games of one's own that are over, with places and points. It is stored in this browser alone.

/** @import { AnyTable } from "../table/table_state.js" */

/** A seat of a finished game. @typedef {{ name: string, points: number, place: number }} RecordedSeat */
/**
 * A finished game.
 * @typedef {object} RecordedGame
 * @property {string} game its id
 * @property {number} seat one's own
 * @property {string} title of its rules
 * @property {string | null} board its id; null where it is played on none
 * @property {number} at when it was over, in milliseconds since 1970
 * @property {RecordedSeat[]} seats in seat order
 */
/** What is stored: the games, and the ids of those that their owner has cleared. @typedef {{ games: RecordedGame[], cleared: string[] }} Stored */

const RECORD = "ledgerline.record";
const MOST = 2000; // games; of more, the oldest are dropped
const MOST_CHARS = 1_500_000; // of the record: the seats of this browser lie in the same storage, which has room for three times that
const MOST_BYTES = 4 * MOST_CHARS; // of a file that is read
const FORM = "ledgerline-record"; // what an exported file names itself

/** @returns {Stored} */
function read() {
  try {
    const { games, cleared } = JSON.parse(localStorage.getItem(RECORD) ?? "{}");
    return { games: games ?? [], cleared: cleared ?? [] };
  } catch {
    return { games: [], cleared: [] };
  }
}

/** The latest of some games, as many as there is room for. @param {RecordedGame[]} games */
function fitting(games) {
  const latest = games.toSorted((a, b) => b.at - a.at).slice(0, MOST);
  let chars = 0;
  const first = latest.findIndex((game) => (chars += JSON.stringify(game).length + 1) > MOST_CHARS);
  return first < 0 ? latest : latest.slice(0, first);
}

/** @param {Stored} stored */
function write({ games, cleared }) {
  localStorage.setItem(RECORD, JSON.stringify({ games: fitting(games), cleared: cleared.slice(-MOST) }));
}

/** The games of the record, the latest first. */
export const recordedGames = () => read().games;

/** Record a table that is over, where the viewer has a seat; once. @param {AnyTable} table */
export function recordResult({ game, viewer, result, seats, created, at, ruleset_title, ...own }) {
  if (!result || viewer === "public") return;
  const { games, cleared } = read();
  if (cleared.includes(game) || games.some((each) => each.game === game)) return;
  const scores = new Map(result.map((score) => [score.seat, score]));
  const recorded = {
    game,
    seat: viewer,
    title: ruleset_title,
    board: "board" in own ? own.board : null,
    at: created + at,
    seats: seats.map(({ seat, name }) => ({
      name: name ?? "",
      points: scores.get(seat)?.total ?? 0,
      place: scores.get(seat)?.place ?? seats.length,
    })),
  };
  try {
    write({ games: [...games, recorded], cleared });
  } catch {
    // the browser's storage is full, or off: the game is shown all the same
  }
}

/** Forget all games of the record; they don't come back by themselves. */
export function clearRecord() {
  const { games, cleared } = read();
  write({ games: [], cleared: [...cleared, ...games.map(({ game }) => game)] });
}

/** The record as the text of a file, which `importRecord` reads. */
export const recordAsJson = () => `${JSON.stringify({ form: FORM, games: read().games }, null, 1)}\n`;

/** A field of a line; what a spreadsheet would take for a formula is text. @param {string | number} value */
function csvField(value) {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The record as a table for spreadsheets: a line for each game. */
export function recordAsCsv() {
  const rows = read().games.map(({ game, seat, title, board, at, seats }) => [
    new Date(at).toISOString(),
    game,
    title,
    board ?? "",
    seats[seat].place,
    seats.length,
    seats[seat].points,
    opponentsOf({ seat, seats })
      .map(({ name, points }) => `${name} (${points})`)
      .join("; "),
  ]);
  const head = ["over", "game", "rules", "board", "place", "of", "points", "opponents"];
  return [head, ...rows].map((row) => `${row.map(csvField).join(",")}\r\n`).join("");
}

/** The seats of the others. @param {Pick<RecordedGame, "seat" | "seats">} recorded */
export const opponentsOf = ({ seat, seats }) => seats.filter((_, place) => place !== seat);

/** @param {unknown} value @returns {value is string} */
const isShortText = (value) => typeof value === "string" && value.length <= 200;

/** Whether a value is a seat as this page writes one. @param {RecordedSeat | null} value */
const isSeat = (value) =>
  isShortText(value?.name) && Number.isFinite(value.points) && Number.isInteger(value.place);

/** Whether a value is a game as this page writes one. @param {RecordedGame | null} value */
const isGame = (value) =>
  /^[0-9a-f]{12}$/.test(String(value?.game)) &&
  isShortText(value?.title) &&
  (value.board === null || isShortText(value.board)) &&
  Number.isFinite(value.at) &&
  Math.abs(value.at) < 8e15 &&
  Array.isArray(value.seats) &&
  value.seats.length <= 8 &&
  value.seats.every(isSeat) &&
  Number.isInteger(value.seat) &&
  value.seat in value.seats;

/**
 * Add the games of an exported file. Gives how many are new; throws an Error that says what is wrong with the file.
 * @param {Blob} file
 */
export async function importFile(file) {
  if (file.size > MOST_BYTES)
    throw new Error("This file is larger than any record. Choose one that was exported here as JSON.");
  return importRecord(await file.text());
}

/** @param {string} text */
function importRecord(text) {
  /** @type {{ form?: string, games?: RecordedGame[] } | null} */
  let file;
  try {
    file = JSON.parse(text);
  } catch {
    throw new Error("This file isn't JSON. Choose one that was exported here as JSON.");
  }
  if (file?.form !== FORM || !Array.isArray(file.games))
    throw new Error("This file has no record. Choose one that was exported here as JSON.");
  const wrong = file.games.findIndex((each) => !isGame(each));
  if (wrong >= 0) throw new Error(`Game ${wrong + 1} of this file can't be read. Nothing was imported.`);
  const { games, cleared } = read();
  const known = new Set(games.map(({ game }) => game));
  const fresh = new Map(file.games.filter(({ game }) => !known.has(game)).map((each) => [each.game, each]));
  if (fitting([...games, ...fresh.values()]).length < games.length + fresh.size)
    throw new Error(
      `The record has no room for ${fresh.size} more games. Nothing was imported, and none of yours is dropped.`,
    );
  write({ games: [...games, ...fresh.values()], cleared: cleared.filter((game) => !fresh.has(game)) });
  return fresh.size;
}

// @ts-check
// What the lobby shows: the games, read again and again, and what a host is about to do with its own.
import { ask, Problem } from "../api/api.js";
import { forgetGame, freeSeat, myGame, myGames, replaceToken } from "../api/my_games.js";
import { recordResult } from "../api/record.js";
import { reasonOf } from "../shared/frame.js";

/** @import { ListedBoard, ListedGame, RulesetList } from "../api/openapi.js" */

/** What a table can be made of. @typedef {RulesetList & { boards: ListedBoard[] }} Catalog */
/**
 * @typedef {object} Lobby
 * @property {ListedGame[]} games
 * @property {ListedGame[]} older others that were asked for, as they were then
 * @property {string | null} next where the list goes on; null at its end
 * @property {boolean} isRead one's own games were read once
 * @property {string | null} trouble why games are missing
 * @property {{ game: string, seat: number } | null} freeing the seat that its host is about to free
 * @property {string | null} refusal
 * @property {Catalog | null} catalog
 */

/** @type {Lobby} */
export const lobby = {
  games: [],
  older: [],
  next: null,
  isRead: false,
  trouble: null,
  freeing: null,
  refusal: null,
  catalog: null,
};

const POLL_MS = 5000;
const PAGE = "60"; // games that are asked for at once
const AWAY = "The server can't be reached.";
export const USUAL_BOARD = "usa";
let draw = () => {};
/** @type {(() => void)[]} */
const whenBack = [];

/** Have the lobby drawn by this from now on. @param {() => void} drawing */
export function drawWith(drawing) {
  draw = drawing;
  draw();
}

/** @param {Partial<Lobby>} change */
export function update(change) {
  Object.assign(lobby, change);
  draw();
}

/** Do this when the server answers again, where an error was that it didn't. @param {unknown} error @param {() => void} act */
export const onceBack = (error, act) => error instanceof Problem || whenBack.push(act);

async function readCatalog() {
  const [rulesets, { boards }] = await Promise.all([ask("GET /rulesets"), ask("GET /boards")]);
  const usualFirst = boards.toSorted((a, b) => Number(b.id === USUAL_BOARD) - Number(a.id === USUAL_BOARD));
  update({ catalog: { ...rulesets, boards: usualFirst } });
}

/** Read what isn't known yet now, and from then on every few seconds while somebody sees the page. */
export async function poll() {
  if (document.hidden) return document.addEventListener("visibilitychange", poll, { once: true });
  await read();
  setTimeout(poll, POLL_MS);
}

/** Read the games: one's own first, so that they are there whatever becomes of the list. */
async function read() {
  /** @type {string | null} */
  let trouble = null;
  /** @param {string} what @param {unknown} error */
  const miss = (what, error) => {
    trouble ??= error instanceof Problem ? `${what}: ${reasonOf(error)}` : AWAY;
    return [];
  };
  const catalog = lobby.catalog ? null : readCatalog().catch((error) => miss("No table can be made", error));
  const known = myGames();
  const mine = Object.keys(known).toSorted((a, b) => (known[b].since ?? 0) - (known[a].since ?? 0));
  const found = mine.map((game) =>
    find(game).catch((error) => miss("One of your games can't be read", error)),
  );
  const own = (await Promise.all(found)).flat();
  update({ games: [...own, ...lobby.games.filter(({ game }) => !(game in known))], isRead: true });
  try {
    const { games, missing, next } = await ask("GET /games", { query: { most: PAGE } });
    if (!lobby.older.length) lobby.next = next ?? null;
    const titles = new Map(games.map((row) => [row.game, row.board_title]));
    for (const row of own) row.board_title = titles.get(row.game) ?? row.board_title;
    const latest = new Set(games.map(({ game }) => game));
    const others = [...games, ...lobby.older.filter(({ game }) => !latest.has(game))];
    update({ games: [...own, ...others.filter(({ game }) => !(game in known))] });
    if (missing) trouble ??= `Not listed: ${missing}.`;
  } catch (error) {
    miss("The games can't be listed", error);
  }
  await catalog;
  if (trouble !== AWAY) for (const act of whenBack.splice(0)) act();
  update({ trouble });
}

/** Show more games of others, after those that are shown. */
export async function readOlder() {
  try {
    const { games, next } = await ask("GET /games", { query: { most: PAGE, cursor: lobby.next ?? "" } });
    const known = myGames();
    const shown = new Set(lobby.games.map(({ game }) => game));
    const others = lobby.games.filter(({ game }) => !(game in known));
    const more = games.filter(({ game }) => !shown.has(game) && !(game in known));
    update({
      older: [...others, ...more],
      next: next ?? null,
      games: [...lobby.games, ...more],
      refusal: null,
    });
  } catch (error) {
    update({ refusal: reasonOf(error) });
    onceBack(error, () => update({ refusal: null }));
  }
}

/**
 * A game of mine; none where it is no more. Over, it changes no more, and is read once.
 * @param {string} game
 * @returns {Promise<ListedGame[]>}
 */
async function find(game) {
  const known = lobby.games.find((row) => row.game === game && row.status === "over");
  if (known) return [known];
  const { token } = myGame(game);
  try {
    const table = await ask("GET /games/{game}/state", { path: { game }, token });
    recordResult(table);
    const scores = new Map(table.result?.map((score) => [score.seat, score]));
    const seats = table.seats.map((seat) => ({
      ...seat,
      free: !seat.seated,
      total: scores.get(seat.seat)?.total ?? null,
      place: scores.get(seat.seat)?.place ?? null,
    }));
    const board = "board" in table ? table.board : null;
    return [{ ...table, seats, board, board_title: board, free: seats.filter((seat) => seat.free).length }];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status === 404) forgetGame(game);
    else if (error.status !== 401) throw error;
    return error.status === 401 && token && (await replaceToken(game, token)) ? find(game) : [];
  }
}

/** Free a seat of a table that waits. @param {string} game @param {number} seat */
export async function freeListedSeat(game, seat) {
  update({ freeing: null, refusal: null });
  try {
    await freeSeat(game, seat);
  } catch (error) {
    update({ refusal: reasonOf(error) });
    onceBack(error, () => update({ refusal: null }));
  }
  await read();
}

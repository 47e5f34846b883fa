// @ts-check
// What the lobby shows: the games, read again and again, and what a host is about to do with its own.
import { ask, Problem } from "../api/api.js";
import { forgetGame, freeSeat, myGame, myGames, replaceToken } from "../api/my_games.js";
import { reasonOf } from "../shared/frame.js";

/** @import { ListedBoard, ListedGame, RulesetList } from "../api/openapi.js" */

/** What a table can be made of. @typedef {RulesetList & { boards: ListedBoard[] }} Catalog */
/**
 * @typedef {object} Lobby
 * @property {ListedGame[]} games
 * @property {boolean} isRead the games were read once
 * @property {boolean} isAway the server couldn't be reached
 * @property {boolean} isPartial some games aren't listed now
 * @property {{ game: string, seat: number } | null} freeing the seat that its host is about to free
 * @property {string | null} refusal
 * @property {Catalog | null} catalog
 */

/** @type {Lobby} */
export const lobby = {
  games: [],
  isRead: false,
  isAway: false,
  isPartial: false,
  freeing: null,
  refusal: null,
  catalog: null,
};

const POLL_MS = 5000;
export const USUAL_BOARD = "usa";
let draw = () => {};

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

export async function readCatalog() {
  const [rulesets, { boards }] = await Promise.all([ask("GET /rulesets"), ask("GET /boards")]);
  const usualFirst = boards.toSorted((a, b) => Number(b.id === USUAL_BOARD) - Number(a.id === USUAL_BOARD));
  update({ catalog: { ...rulesets, boards: usualFirst } });
}

/** Read the games now, and from then on every few seconds. */
export async function poll() {
  await read();
  setTimeout(poll, POLL_MS);
}

async function read() {
  try {
    const { games, missing } = await ask("GET /games", { query: { most: "60" } });
    const mine = Object.keys(myGames()).filter((game) => !games.some((row) => row.game === game));
    const more = await Promise.all(mine.map(find));
    update({
      games: [...games, ...more.flat()],
      isRead: true,
      isAway: false,
      isPartial: missing !== undefined,
    });
  } catch (error) {
    update({ isAway: !(error instanceof Problem) });
  }
}

/**
 * A game of mine that is in no list; none where it is no more.
 * @param {string} game
 * @returns {Promise<ListedGame[]>}
 */
async function find(game) {
  const { token } = myGame(game);
  try {
    const table = await ask("GET /games/{game}/state", { path: { game }, token });
    const seats = table.seats.map((seat) => ({ ...seat, free: !seat.seated, total: null }));
    const board = "board" in table ? table.board : null;
    return [{ ...table, seats, board, board_title: board, free: seats.filter((seat) => seat.free).length }];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status === 404) forgetGame(game);
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
  }
  await read();
}

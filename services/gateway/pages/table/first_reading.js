// @ts-check
// The first reading of a table and its board: it needs few modules, so it is on its way while the others still load.
import { ask } from "../api/api.js";
import { myGame } from "../api/my_games.js";

const game = location.pathname.split("/")[2];
const path = { game };
const { token } = myGame(game);
const isOpenedByLink = new URLSearchParams(location.hash.slice(1)).has("token");

function read() {
  const query = { since: "0", ...(token ? { legal: "true" } : {}) };
  const table = ask("GET /games/{game}/state", { path, query, token });
  const board = table.then((found) =>
    "parts" in found ? undefined : ask("GET /games/{game}/board", { path, token }),
  );
  board.catch(() => {}); // whoever needs it will see
  return { token, table, board };
}

/** What is read with the token that this browser had; null where another one may come with the address. */
export const firstReading = isOpenedByLink ? null : read();

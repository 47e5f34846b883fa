// @ts-check
// The first reading of a table and its board: it is on its way while the page's script still loads, which takes it from there.
import { myGame } from "../api/my_games.js";

/** What was asked with the token that this browser had; the board only where the page's HTML says that there is one. @typedef {{ token: string | undefined, table: Promise<Response>, board?: Promise<Response> }} FirstReading */

const [, , game] = location.pathname.split("/");

/** @returns {FirstReading} */
function read() {
  const { token } = myGame(game);
  const headers = { Accept: "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
  /** @param {string} what */
  const ask = (what) => {
    const reply = fetch(`/v1/games/${game}/${what}`, { headers });
    reply.catch(() => {}); // whoever needs it will see
    return reply;
  };
  const table = ask(`state?since=0${token ? "&legal=true" : ""}`);
  return "board" in document.documentElement.dataset
    ? { token, table, board: ask("board") }
    : { token, table };
}

const isOpenedByLink = new URLSearchParams(location.hash.slice(1)).has("token"); // another token comes with the address
if (!isOpenedByLink) Object.assign(globalThis, { firstReading: read() });

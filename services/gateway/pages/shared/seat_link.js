// @ts-check
// A link that opens a seat: it counts at once where no seat of the game is held, else once the holder says so.
import { html } from "../vendor/lit-html/lit-html.js";
import { ask, Problem } from "../api/api.js";
import { myGame, rememberInTab } from "../api/my_games.js";
import { seatLetter } from "./words.js";

/** The seat that a link opens, and the one that is held. @typedef {{ token: string, seat: number, held: number }} SeatLink */

/**
 * Take the token of a link, where none is held.
 * @param {string} game
 * @param {string | null} token
 * @returns {Promise<SeatLink | string | null>} what the holder is to be asked, or why the link opens nothing
 */
export async function openLink(game, token) {
  const mine = myGame(game);
  if (!token || token === mine.token) return null;
  try {
    const query = { most: "1" };
    const { viewer } = await ask("GET /games/{game}/view", { path: { game }, query, token });
    if (typeof viewer !== "number") {
      if (!mine.host) rememberInTab(game, { host: token });
      return null;
    }
    if (mine.token && mine.seat !== undefined)
      return viewer === mine.seat ? null : { token, seat: viewer, held: mine.seat };
    rememberInTab(game, { token, seat: viewer });
    return null;
  } catch (error) {
    if (error instanceof Problem && (error.status === 401 || error.status === 403))
      return `This link opens no seat of this game: ${error.message}.`;
    throw error;
  }
}

/**
 * Which seat to go on in. The one that is held stays known, whatever is chosen.
 * @param {string} game
 * @param {SeatLink} link
 * @param {() => void} stay
 */
export function linkBanner(game, { token, seat, held }, stay) {
  const go = () => {
    rememberInTab(game, { token, seat });
    location.reload();
  };
  return html`<p class="banner" role="alert"><span>You hold seat ${seatLetter(held)} of this game; this link opens seat ${seatLetter(seat)}.</span>
    <button type="button" class="primary" @click=${stay}>Stay in seat ${seatLetter(held)}</button>
    <button type="button" @click=${go}>Go on in seat ${seatLetter(seat)}</button></p>`;
}

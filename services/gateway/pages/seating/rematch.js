// @ts-check
// Once a game is over: the same people again, each in the own seat. Whoever sat there offers it; the others' pages ask for it.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { ask } from "../api/api.js";
import { myGame, remember, takeSeat } from "../api/my_games.js";
import { seatLetter, seatName } from "../shared/words.js";
import { game, page as shownPage, refuse, update } from "../table/table_state.js";

/** @import { Rematch } from "../api/openapi.js" */
/** @import { TablePage } from "../table/table_state.js" */

const FIRST_MS = 2000; // until the page asks again whether one is offered; each pause is longer than the one before
const LONGER = 1.4;
const LONGEST_MS = 60_000;
const PATIENCE_MS = 30 * 60_000; // of a page that asks

const path = { game };
let isAsked = false;

/**
 * Ask whether somebody has offered one while the page of a finished game is looked at: soon after the end, when people offer
 * them, then ever more seldom, and at once where somebody comes back to the page.
 */
export function awaitRematch() {
  if (isAsked || shownPage.latest.status !== "over") return;
  isAsked = true;
  const end = performance.now() + PATIENCE_MS;
  /** @type {number | undefined} */
  let timer;
  const askAgain = async (pause = FIRST_MS) => {
    clearTimeout(timer);
    if (shownPage.rematch || document.hidden) return;
    await find().catch(() => {}); // the server is away: asked again
    if (!shownPage.rematch && performance.now() < end)
      timer = setTimeout(askAgain, pause, Math.min(LONGER * pause, LONGEST_MS));
  };
  document.addEventListener("visibilitychange", () => askAgain());
  askAgain();
}

async function find() {
  const found = await ask("GET /games/{game}/rematch", { path, token: myGame(game).token });
  if (found.game !== null) update({ rematch: found });
}

/** Offer one, or join the one that is offered, and go there. */
async function join() {
  const { token, host } = myGame(game);
  update({ isBusy: true, refusal: null });
  try {
    const hosted = host ? await ask("POST /games/{game}/rematch", { path, token: host }) : null;
    const place = token ? await ask("POST /games/{game}/rematch", { path, token }) : hosted;
    if (!place?.game) return;
    if (hosted?.token) remember(place.game, { host: hosted.token });
    location.href = await sitDown(place.game, place);
  } catch (error) {
    refuse(error);
  } finally {
    update({ isBusy: false });
  }
}

/** Take the own place, unless its age is asked for first. Gives the address. @param {string} rematch @param {Rematch} place */
async function sitDown(rematch, { seat, invitation }) {
  const address = `/table/${rematch}`;
  if (seat === null || !invitation || myGame(rematch).token) return address;
  const { seats, order } = shownPage.latest;
  if (order !== "seated")
    return `${address}#${new URLSearchParams({ seat: String(seat), invite: invitation })}`;
  await takeSeat(rematch, seat, seatName(seats[seat]), { invitation });
  return address;
}

/** What is said of a rematch, where there is one. @param {TablePage} page */
export function rematchBanner({ rematch, latest, isBusy }) {
  if (!rematch) return nothing;
  if (latest.viewer === "public")
    return html`<p class="banner" role="status"><span>They play again.</span> <a class="button" href=${`/table/${rematch.game}`}>Watch the rematch</a></p>`;
  const { name, seat } = { seat: latest.viewer, name: seatName(latest.seats[latest.viewer]) };
  return html`<p class="banner" role="status"><span>A rematch is offered: seat ${seatLetter(seat)} is kept for you, ${name}.</span>
    <button type="button" class="primary" ?disabled=${isBusy} @click=${join}>Join the rematch</button></p>`;
}

/** The way to offer one, for who sat there or made the table. @param {TablePage} page */
export function rematchButton({ rematch, latest, isBusy }) {
  if (rematch || (latest.viewer === "public" && !myGame(game).host)) return nothing;
  return html`<button type="button" class="primary" ?disabled=${isBusy} @click=${join}>Play again</button>`;
}

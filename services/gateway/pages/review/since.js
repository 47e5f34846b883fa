// @ts-check
// What happened since the viewer's last move, for who comes back to the table: in words, and once more on the board.
import { html } from "../vendor/lit-html/lit-html.js";
import { myGame, remember } from "../api/my_games.js";
import { seatBadge } from "../shared/frame.js";
import { readTable } from "../table/following.js";
import { isStill, MOST_STEPS, presentAgain } from "../table/pacing.js";
import { game, page, update } from "../table/table_state.js";

/** @import { Move } from "../api/openapi.js" */
/** @import { TablePage } from "../table/table_state.js" */

/** The moves since the viewer's last one. */
const movesSince = () =>
  page.moves.slice(page.moves.findLastIndex(({ seat }) => seat === page.latest.viewer) + 1);

/** Tell who comes back what happened, where this browser hasn't shown all of it. */
function comeBack() {
  const { latest } = page;
  const { seen = 0 } = myGame(game);
  if (latest.viewer === "public" || latest.status !== "playing" || seen >= latest.number) return;
  const since = movesSince();
  const hasBegun = page.moves.at(-1)?.turn !== 0; // before that everybody chooses at once
  if (!hasBegun || !since.some(({ seat }) => seat !== null)) return;
  update({ since });
  if (!isStill()) showAgain(since).catch(() => {}); // the words are there
}

/** Show the last moves once more, one after the other. @param {Move[]} moves */
async function showAgain(moves) {
  const { latest } = page;
  const shown = moves.slice(-MOST_STEPS);
  const numbers = [Math.max(1, shown[0].number - 1), ...shown.map(({ number }) => number)];
  const before = numbers.filter((number) => number < latest.number);
  const tables = await Promise.all(before.map((number) => readTable({ at: String(number) })));
  if (page.latest === latest) presentAgain([...tables, latest], shown);
}

/** Note what was shown, for the next time. */
function leave() {
  if (myGame(game).token && page.latest) remember(game, { seen: page.latest.number });
}

/** Notice from now on that the viewer goes away, and comes back. */
export function noticeReturns() {
  comeBack();
  addEventListener("pagehide", leave);
  document.addEventListener("visibilitychange", () => (document.hidden ? leave() : comeBack()));
}

/** @param {TablePage} page @param {Move[]} since */
export const sinceBanner = ({ table }, since) =>
  html`<section class="banner since" aria-labelledby="since-title"><h2 id="since-title">Since your last move</h2>
    <ol tabindex="0" aria-labelledby="since-title">${since.map(
      (move) =>
        html`<li class=${move.number === table.number ? "now" : ""}>${move.seat === null ? "" : seatBadge(move.seat)}<span>${move.text.join(" ")}</span></li>`,
    )}</ol>
    <div class="buttons"><button type="button" class="quiet" aria-label="Show again" @click=${() => showAgain(since).catch(() => {})}>↻<span class="word"> Show again</span></button>
    <button type="button" class="quiet" aria-label="Dismiss" @click=${() => update({ since: null })}>✕</button></div></section>`;

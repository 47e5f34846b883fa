// @ts-check
// A hint: what a strong bot would do in the viewer's place now, and why. One button does it.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { ask, whenFree } from "../api/api.js";
import { myGame } from "../api/my_games.js";
import { say, when } from "../shared/frame.js";
import { upperFirst, withNames } from "../shared/words.js";
import { send } from "./acting.js";
import { game, page, refuse, update } from "./table_state.js";

/** @import { PlayerCommand, SuggestedCommand } from "../api/openapi.js" */
/** @import { TablePage } from "./table_state.js" */

const OTHERS = 2; // that are shown beside the best

/** Ask for a hint. An answer that comes after the next entry is about another table, and isn't shown. */
async function askHint() {
  const { number } = page.latest;
  update({ hint: { number, commands: null }, refusal: null });
  const isCurrent = () => page.hint?.number === number && page.latest.number === number;
  try {
    const request = { path: { game }, token: myGame(game).token };
    const { commands } = await whenFree(() => ask("GET /games/{game}/suggestions", request), isCurrent);
    if (!isCurrent()) return;
    update({ hint: { number, commands } });
    if (commands.length) say(`Hint: ${commands[0].text}. ${commands[0].why}`);
  } catch (error) {
    if (!isCurrent()) return;
    page.hint = null;
    refuse(error);
  }
}

/** The button that asks for a hint, where the table allows it and there is something to choose. @param {TablePage} page */
export const hintButton = ({ latest, hint, isBusy }) =>
  latest.suggestions && (latest.legal?.length ?? 0) > 1
    ? html`<button type="button" class="quiet hint-key" aria-keyshortcuts="g" title="What would a strong bot do?" ?disabled=${isBusy || hint?.number === latest.number} @click=${askHint}>Hint</button>`
    : nothing;

const pointAtNothing = () => page.drawing.point?.(null);

/** @param {SuggestedCommand} suggested @param {boolean} isBusy @param {string} label */
function doButton({ command, text }, isBusy, label) {
  const meant = /** @type {PlayerCommand} */ (command);
  const point = () => page.drawing.point?.(meant);
  return html`<button type="button" ?disabled=${isBusy} aria-label=${`${label}: ${text}`} @mouseenter=${point} @focus=${point} @mouseleave=${pointAtNothing} @blur=${pointAtNothing} @click=${() => send(meant)}>${label}</button>`;
}

/** @param {TablePage} shown @param {SuggestedCommand} suggested */
const whyOf = ({ latest }, { why }) => withNames(why, latest.seats);

/** The command that the hint names first. @param {Pick<TablePage, "hint" | "latest">} shown */
export const hinted = ({ hint, latest }) =>
  hint?.number === latest.number ? hint.commands?.[0]?.command : undefined;

/** The hint: the best move with its reason, then others. @param {TablePage} shown */
export function hintView(shown) {
  const { hint, latest, isBusy } = shown;
  if (hint?.number !== latest.number) return nothing;
  if (!hint.commands)
    return html`<p class="hint" role="status">Thinking … <progress aria-label="Thinking of a hint"></progress></p>`;
  const [best, ...others] = hint.commands;
  if (!best) return nothing;
  return html`<section class="hint" aria-label="Hint">
    <p class="hinted"><b>${upperFirst(best.text)}</b> ${doButton(best, isBusy, "Do it")}</p>
    <p class="note">${whyOf(shown, best)}</p>
    ${when(
      others.length > 0,
      () =>
        html`<details><summary>Other moves</summary><ul>${others.slice(0, OTHERS).map((other) => html`<li><p class="hinted">${upperFirst(other.text)} ${doButton(other, isBusy, "Do this")}</p><p class="note">${whyOf(shown, other)}</p></li>`)}</ul></details>`,
    )}</section>`;
}

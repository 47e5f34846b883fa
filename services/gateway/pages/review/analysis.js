// @ts-check
// A finished game analysed: each of the viewer's choices against what a strong bot would have done there; the three that cost
// most are shown, each with the way to play on from there.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { ask, newKey, whenFree } from "../api/api.js";
import { invitationTo, myGame, remember, takeSeat } from "../api/my_games.js";
import { root, say, when } from "../shared/frame.js";
import { plural, seatName, upperFirst } from "../shared/words.js";
import { attempt } from "../table/acting.js";
import { game, page, refuse, update } from "../table/table_state.js";
import { startReplay } from "./replay.js";

/** @import { JudgedChoice } from "../api/openapi.js" */
/** @import { Analysis, TablePage } from "../table/table_state.js" */

const SHOWN = 3;

/** Have one choice after the other judged, from where the analysis was stopped; each answer says how many there are. */
async function analyse() {
  const analysis = page.analysis ?? { judged: [], choices: 0, isRunning: true };
  analysis.isRunning = true;
  update({ analysis, refusal: null });
  root.querySelector(".analysis")?.scrollIntoView({ block: "start" });
  const isWanted = () => page.analysis === analysis && analysis.isRunning;
  try {
    while (isWanted() && (!analysis.choices || analysis.judged.length < analysis.choices)) {
      const request = { path: { game, place: analysis.judged.length }, token: myGame(game).token };
      const judged = await whenFree(() => ask("GET /games/{game}/choices/{place}", request), isWanted);
      analysis.judged.push(judged);
      analysis.choices = judged.choices;
      update({});
    }
    if (isWanted()) say(`${plural(analysis.choices, "choice")} analysed.`);
  } catch (error) {
    if (isWanted()) refuse(error);
  }
  analysis.isRunning = false;
  update({});
}

function stop() {
  if (page.analysis) page.analysis.isRunning = false;
  update({});
}

/** Play on from where a choice was made: a new game, in the same seat. It begins at once where nobody else is to come. @param {JudgedChoice} judged */
const playOn = ({ number, seat }) =>
  attempt(async () => {
    const request = { path: { game }, body: { at: number }, token: myGame(game).token, key: newKey() };
    const { game: fork, token, invitations = [] } = await ask("POST /games/{game}/forks", request);
    remember(fork, { host: token, invitations });
    await takeSeat(fork, seat, seatName(page.latest.seats[seat]), { invitation: invitationTo(fork, seat) });
    if (invitations.every((each) => each.seat === seat))
      await ask("POST /games/{game}/start", { path: { game: fork }, token, key: newKey() });
    location.href = `/table/${fork}`;
  });

/** The choices that cost most, the costliest first. @param {JudgedChoice[]} judged */
const costliest = (judged) =>
  judged
    .filter(({ cost }) => cost)
    .toSorted((a, b) => (b.cost ?? 0) - (a.cost ?? 0))
    .slice(0, SHOWN);

/** What a choice has cost, and how sure that is. @param {JudgedChoice} judged */
function costWords({ cost, cost_error }) {
  const points = plural(Math.max(1, Math.round(cost ?? 0)), "point");
  const isSure = cost_error !== null && (cost ?? 0) > 2 * cost_error;
  return `about ${points}${isSure ? "" : ", which may be chance"}`;
}

/** @param {JudgedChoice} judged @param {boolean} isBusy */
const choiceRow = (judged, isBusy) => {
  const { number, done, best, forks } = judged;
  return html`<li><p><b>${upperFirst(done.text)}</b> <span class="note">cost ${costWords(judged)}</span></p>
    ${when(best, ({ text }) => html`<p>Better: ${text}.</p>`)}
    <p class="buttons"><button type="button" aria-label=${`Look at entry ${number}`} @click=${() => startReplay(number)}>Look</button>
    ${when(forks, () => html`<button type="button" aria-label=${`Play on from entry ${number}`} ?disabled=${isBusy} @click=${() => playOn(judged)}>Play on from here</button>`)}</p></li>`;
};

/** @param {Analysis} analysis @param {boolean} isBusy */
function analysisContent({ judged, choices, isRunning }, isBusy) {
  const rows = costliest(judged);
  const isDone = choices > 0 && judged.length === choices;
  const count = `${judged.length} of ${choices || "…"}`;
  return html`${
    isDone
      ? html`<p>${plural(choices, "choice")}, ${judged.filter(({ best }) => !best).length} as the bot would have chosen. ${rows.length ? "These cost most:" : "No other would have been better."}</p>`
      : html`<p class="progress"><progress max=${choices || 1} .value=${judged.length} aria-label="Choices analysed"></progress> <span>${count}</span>
      ${isRunning ? html`<button type="button" class="quiet" @click=${stop}>Stop</button>` : html`<button type="button" @click=${analyse}>Go on</button>`}</p>`
  }
  ${when(rows.length > 0, () => html`<ol class="costly">${rows.map((row) => choiceRow(row, isBusy))}</ol>`)}`;
}

/** The analysis of the viewer's own game, once it is over. @param {TablePage} shown */
export function analysisView({ latest, analysis, isBusy }) {
  const own = latest.seats.find(({ seat }) => seat === latest.viewer);
  if (latest.status !== "over" || !own || !latest.suggestions) return nothing;
  return html`<section class="panel analysis" aria-labelledby="analysis-title"><h2 id="analysis-title">Your choices</h2>
    ${
      analysis
        ? analysisContent(analysis, isBusy)
        : html`<p class="note">Each against what a strong bot would have done in your place, by what you saw then.</p>
      <p><button type="button" @click=${analyse}>Analyse</button></p>`
    }</section>`;
}

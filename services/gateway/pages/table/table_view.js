// @ts-check
// The page of a table, put together: head, banners, what is played on, panels.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { canPush, isPushed } from "../alerts/push.js";
import { toggleSounds } from "../alerts/sounds.js";
import { canNotify, toggleDevice, toggleNotices } from "../alerts/turn_alerts.js";
import { openWebhook } from "../alerts/webhook_dialog.js";
import { openRules } from "../guide/rules_dialog.js";
import { analysisView } from "../review/analysis.js";
import { drawerHead, movesView, newsView, replayView } from "../review/moves_view.js";
import { startReplay } from "../review/replay.js";
import { sinceBanner } from "../review/since.js";
import { secondPersonBanner } from "../seating/inviting.js";
import { rematchBanner, rematchButton } from "../seating/rematch.js";
import { waitingView } from "../seating/waiting_view.js";
import { home, when } from "../shared/frame.js";
import { linkBanner } from "../shared/seat_link.js";
import { ago, plural, seatName, STATUS } from "../shared/words.js";
import { confirmEnd } from "./acting.js";
import { choiceView } from "./choice_view.js";
import { confirmLeave } from "./choosing.js";
import { showKeys } from "./keys.js";
import { resultView, seatsView } from "./seats_view.js";
import { isOwnTurn, update } from "./table_state.js";

/** @import { CheckedChain } from "../api/connection.js" */
/** @import { MyGame } from "../api/my_games.js" */
/** @import { TablePage } from "./table_state.js" */

/** @param {TablePage} page */
function headline(page) {
  const { latest, replay } = page;
  if (replay) return `Entry ${replay.at} of ${latest.number}`;
  if (latest.status !== "playing") return `This game is ${STATUS[latest.status]}`;
  const acting = latest.seats.filter((seat) => seat.choice !== null);
  if (isOwnTurn(latest)) return "It is your turn";
  return `${acting.map(seatName).join(" and ") || "Nobody"} ${acting.length > 1 ? "are" : "is"} to move`;
}

/** @param {CheckedChain} chain */
function chainView({ from, to, isBroken }) {
  if (isBroken)
    return html`<strong class="chain broken">The chain is broken: don't believe this server</strong>`;
  const entries = `Entries ${from + 1} to ${to} follow from the one before`;
  return html`<span class="chain good" title=${entries}>✓ ${plural(to - from, "entry", "entries")} checked</span>`;
}

/** What is played, and by which rules where others are usual. @param {TablePage} page */
function title({ drawing, table }) {
  const name = drawing.name(table);
  const rules = when(
    name !== table.ruleset_title,
    () => html`<span class="rules">${table.ruleset_title} rules</span>`,
  );
  return html`${name}${rules}`;
}

/** @param {TablePage} page */
const header = (page) =>
  html`<header class="top">${home}
  <h1>${title(page)}</h1>
  <p class="turn ${!page.replay && isOwnTurn(page.latest) ? "own" : ""}" tabindex="-1">${headline(page)}</p>
  ${when(page.chain, chainView)}
  <button type="button" class="quiet rules-key" @click=${openRules} aria-label="Rules"><span class="word">Rules</span><kbd aria-hidden="true">R</kbd></button>
  <button type="button" class="quiet" aria-keyshortcuts="?" aria-label="Keys" @click=${showKeys}>?</button>
  <button type="button" class="quiet" aria-pressed=${page.hasSounds} aria-label="Sounds" @click=${toggleSounds}>♪<span class="word"> ${page.hasSounds ? "on" : "off"}</span></button></header>`;

/** @param {keyof TablePage} banner */
const dismissal = (banner) =>
  html`<button type="button" class="quiet" @click=${() => update({ [banner]: null })}>Dismiss</button>`;

/** @param {string} rule */
const ruleLink = (rule) => html`<a href="/rules/${rule}" target="_blank" rel="noopener">Rule ${rule}</a>`;

/** @param {string} link */
const linkField = (link) =>
  html`<input class="link" readonly aria-label="Link" .value=${link} @focus=${selectText}>`;

/** @param {{ currentTarget: HTMLInputElement }} event */
const selectText = (event) => event.currentTarget.select();

/** @param {TablePage} page */
const awayBanner = ({ latest, readAt }) =>
  html`<p class="banner away">The connection is lost. This is the table as of entry ${
    latest.number
  }, ${ago(performance.now() - readAt)}. Trying again.</p>`;

/** @param {TablePage} page */
const banners = (page) =>
  html`${page.isConnected ? nothing : awayBanner(page)}
  ${when(page.link, (link) => linkBanner(page.game, link, () => update({ link: null })))}
  ${when(page.latest.status === "playing" && !page.replay ? page.since : null, (since) => sinceBanner(page, since))}
  ${rematchBanner(page)}
  ${when(page.isSecondAsked, () => secondPersonBanner(page.latest))}
  ${when(
    page.refusal,
    ({ text, rule, isAway }) =>
      html`<p class="banner refusal"><b>${isAway ? "Not done." : "Refused."}</b> ${text} ${when(rule, ruleLink)}
    ${dismissal("refusal")}</p>`,
  )}
  ${when(
    page.notice,
    ({ text, link }) =>
      html`<p class="banner"><span>${text} ${when(link, linkField)}</span>
    ${dismissal("notice")}</p>`,
  )}`;

/** What leads away from the game as it is played. @param {TablePage} page @param {MyGame} mine */
const links = ({ game, table, latest, isBusy, hasNotices }, mine) => {
  const own = latest.seats.find(({ seat }) => seat === latest.viewer);
  const mayLeave = table.status === "playing" && own?.gone === null;
  return html`<p class="links">
  <button type="button" class="quiet" @click=${() => startReplay(latest.number)}>Look back through the game</button>
  ${when(own && canNotify(), () => html`<button type="button" class="quiet" aria-label="Notify me of my turn" title="While I look elsewhere" aria-pressed=${hasNotices} @click=${toggleNotices}>Notify me</button>`)}
  ${when(own && !own.gone && table.status === "playing" && canPush(), () => html`<button type="button" class="quiet" aria-label="Tell me on this device when it is my turn" title="When it is my turn, also when this page is closed" aria-pressed=${isPushed(game)} @click=${toggleDevice}>Tell me on this device</button>`)}
  ${when(own && !own.gone && table.status === "playing", () => html`<button type="button" class="quiet" aria-label="Message me elsewhere" title="On Discord, on Slack, or by a program" @click=${() => openWebhook(game)}>Message me …</button>`)}
  ${when(mayLeave, () => html`<button type="button" class="quiet" ?disabled=${isBusy} @click=${confirmLeave}>Leave the game …</button>`)}
  ${when(mine.host && table.status === "playing", () => html`<button type="button" class="quiet" @click=${confirmEnd}>End the game …</button>`)}</p>`;
};

/** Whether people sit down now: at a table that is looked back at, nothing can be done any more. @param {TablePage} page */
const isForming = ({ table, replay }) => table.status === "waiting" && !replay;

/** What stands beside the table, and in a drawer where there is no room. @param {TablePage} page @param {MyGame} mine */
const side = (page, mine) => {
  const { table, drawing } = page;
  const isEnding = drawing.isEnding?.(page);
  return html`<div class="side ${page.drawer === "side" ? "drawn" : ""}">
    ${page.drawer === "side" ? drawerHead(drawing.words.drawer) : nothing}
    ${isForming(page) ? waitingView(page, mine) : nothing}
    ${when(isEnding ? null : table.result, (result) => resultView(page, result, rematchButton(page)))}
    ${isEnding ? nothing : analysisView(page)}
    ${drawing.beside?.(page) ?? nothing}
    ${table.status === "over" || page.replay ? nothing : links(page, mine)}</div>`;
};

/**
 * The whole page: one screen, whose parts the style sheet lays out by the room that there is.
 * @param {TablePage} page
 * @param {MyGame} mine
 */
export function tablePage(page, mine) {
  const { table, drawing } = page;
  const layout = drawing.layout();
  const isTall = layout === "tall";
  return html`${header(page)}${banners(page)}
    <main id="main" class="table ${table.status} ${layout}">
      <div class="center">
        ${when(page.replay, (replay) => replayView(page, replay))}
        ${drawing.middle(page)}
        ${drawing.own(page)}
        ${isTall ? side(page, mine) : nothing}
      </div>
      <div class="beside">
        ${drawing.actions(page)}
        ${isForming(page) ? nothing : seatsView(page)}
        ${isTall ? nothing : side(page, mine)}
        ${newsView(page)}
      </div>
    </main>${movesView(page)}${choiceView(page)}`;
}

// @ts-check
// The page of a table, put together: head, banners, board, panels.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { boardKey } from "../board/board_key.js";
import { boardView } from "../board/board_view.js";
import { moveByKey, zoomBy } from "../board/viewport.js";
import { openRules } from "../guide/rules_dialog.js";
import { home, when } from "../shared/frame.js";
import { linkBanner } from "../shared/seat_link.js";
import { ago, plural, seatName, STATUS, upperFirst } from "../shared/words.js";
import { confirmEnd } from "./acting.js";
import { actionsView, marketView } from "./actions_view.js";
import { choiceView } from "./choice_view.js";
import { chooseInCity, chooseOnRoutes, cityOf, confirmLeave, pointedBy } from "./choosing.js";
import { secondPersonBanner } from "./inviting.js";
import { showKeys } from "./keys.js";
import { drawerHead, movesView, newsView, replayView, sideName } from "./moves_view.js";
import { ownPartsView, partsActions, partsView } from "./part_view.js";
import { startReplay } from "./replay.js";
import { handView, resultView, seatsView, ticketsView } from "./seats_view.js";
import { toggleSounds } from "./sounds.js";
import { isOwnTurn, offersOf, update } from "./table_state.js";
import { canNotify, toggleNotices } from "./turn_alerts.js";
import { waitingView } from "./waiting_view.js";

/** @import { PartsTable, TableState } from "../api/openapi.js" */
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

/** @param {TablePage} page */
const header = (page) =>
  html`<header class="top">${home}
  <h1>${"parts" in page.table ? upperFirst(page.table.ruleset) : page.board.title}<span class="rules">${page.table.ruleset} rules</span></h1>
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

/** What lies on the board, and what may be done there. @param {TablePage<TableState>} page */
function boardModel({ table, latest, replay, newRoutes, pointed, pinnedTicket }) {
  const pinned = [...table.tickets, ...table.offer].find((ticket) => ticket.id === pinnedTicket);
  const shown = pointed ?? (pinned && pointedBy(pinned));
  const claims = replay ? [] : offersOf(latest, "claim_route");
  return {
    table,
    newRoutes,
    legalRoutes: new Set(claims.map((offer) => offer.command.route)),
    legalCities: new Set(replay ? [] : latest.legal?.map((offer) => cityOf(offer.command))),
    pointedRoutes: new Set(shown?.routes),
    pointedCities: new Set(shown?.cities),
    onRoutes: chooseOnRoutes,
    onCity: chooseInCity,
  };
}

/** @param {TablePage<TableState>} page */
const trayView = (page) =>
  html`<div class="tray">
    <section class="panel market-panel" aria-labelledby="market-title"><h2 id="market-title">Market</h2>${marketView(page)}</section>
    ${handView(page)}</div>`;

/** @param {TableState} table */
const stocks = ({ discards, ticket_decks }) => {
  const decks = Object.entries(ticket_decks).map(([deck, count]) => `${count} ${deck}`);
  return html`<p class="facts">${plural(discards, "discard")} · tickets: ${decks.join(", ") || "none"}</p>`;
};

const ZOOMS = [
  ["+", "+", "Zoom in"],
  ["-", "−", "Zoom out"],
  ["0", "⤢", "All of the board"],
];

/** @param {TablePage<TableState>} page */
const boardFrame = (page) =>
  html`<div class="board-frame" tabindex="0" role="group" aria-label="Board: + and - zoom, arrows move" @keydown=${(/** @type {never} */ event) => moveByKey(event, page.board)}>${boardView(page.board, boardModel(page))}
    <div class="zooms">${ZOOMS.map(([key, sign, name]) => html`<button type="button" title=${name} aria-label=${name} @click=${(/** @type {{ currentTarget: Element }} */ { currentTarget }) => zoomBy(/** @type {Element} */ (currentTarget.closest(".board-frame")), page.board, key)}>${sign}</button>`)}</div></div>`;

/** What leads away from the game as it is played. @param {TablePage} page @param {MyGame} mine */
const links = ({ table, latest, isBusy, hasNotices }, mine) => {
  const own = latest.seats.find(({ seat }) => seat === latest.viewer);
  const mayLeave = table.status === "playing" && own?.gone === null;
  return html`<p class="links">
  <button type="button" class="quiet" @click=${() => startReplay(latest.number)}>Look back through the game</button>
  ${when(own && canNotify(), () => html`<button type="button" class="quiet" aria-label="Notify me of my turn" title="While I look elsewhere" aria-pressed=${hasNotices} @click=${toggleNotices}>Notify me</button>`)}
  ${when(mayLeave, () => html`<button type="button" class="quiet" ?disabled=${isBusy} @click=${confirmLeave}>Leave the game …</button>`)}
  ${when(mine.host && table.status === "playing", () => html`<button type="button" class="quiet" @click=${confirmEnd}>End the game …</button>`)}</p>`;
};

/** Whether people sit down now: at a table that is looked back at, nothing can be done any more. @param {TablePage} page */
const isForming = ({ table, replay }) => table.status === "waiting" && !replay;

/** What stands beside the board, and in a drawer where there is no room. @param {TablePage} page @param {MyGame} mine */
const side = (page, mine) => {
  const { table } = page;
  const train = "parts" in table ? null : /** @type {TablePage<TableState>} */ (page);
  return html`<div class="side ${page.drawer === "side" ? "drawn" : ""}">
    ${page.drawer === "side" ? drawerHead(sideName(table)) : nothing}
    ${isForming(page) ? waitingView(page, mine) : nothing}
    ${when(table.result, (result) => resultView(table, result))}
    ${when(train, (trains) => html`${ticketsView(trains)}${table.status === "waiting" ? nothing : stocks(trains.table)}${boardKey(trains.board)}`)}
    ${table.status === "over" || page.replay ? nothing : links(page, mine)}</div>`;
};

/**
 * The whole page: one screen, whose parts the style sheet lays out by the room that there is.
 * @param {TablePage} page
 * @param {MyGame} mine
 */
export function tablePage(page, mine) {
  const { table } = page;
  const isInParts = "parts" in table;
  const inParts = /** @type {TablePage<PartsTable>} */ (page);
  const train = /** @type {TablePage<TableState>} */ (page);
  const isTall = !isInParts && page.board.height > 1.1 * page.board.width;
  const isWaiting = table.status === "waiting";
  return html`${header(page)}${banners(page)}
    <main id="main" class="table ${table.status} ${isInParts ? "in-parts" : isTall ? "tall" : "wide"}">
      <div class="center">
        ${when(page.replay, (replay) => replayView(page, replay))}
        ${isInParts ? (isWaiting ? nothing : partsView(inParts)) : boardFrame(train)}
        ${isWaiting ? nothing : isInParts ? ownPartsView(inParts) : trayView(train)}
        ${isTall ? side(page, mine) : nothing}
      </div>
      <div class="beside">
        ${isInParts ? partsActions(inParts) : actionsView(train)}
        ${isForming(page) ? nothing : seatsView(page)}
        ${isTall ? nothing : side(page, mine)}
        ${newsView(page)}
      </div>
    </main>${movesView(page)}${choiceView(page)}`;
}

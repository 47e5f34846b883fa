// @ts-check
// The page of a table, put together: head, banners, board, panels.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { boardKey } from "../board/board_key.js";
import { boardView } from "../board/board_view.js";
import { openRules } from "../guide/rules_dialog.js";
import { home, when } from "../shared/frame.js";
import { linkBanner } from "../shared/seat_link.js";
import { ago, plural, seatName, STATUS, upperFirst } from "../shared/words.js";
import { confirmEnd } from "./acting.js";
import { actionsView, marketView } from "./actions_view.js";
import { choiceView } from "./choice_view.js";
import { chooseInCity, chooseOnRoute, cityOf, pointedBy } from "./choosing.js";
import { secondPersonBanner } from "./inviting.js";
import { movesView, replayView } from "./moves_view.js";
import { partsActions, partsView } from "./part_view.js";
import { startReplay } from "./replay.js";
import { handView, resultView, seatsView, ticketsView } from "./seats_view.js";
import { toggleSounds } from "./sounds.js";
import { offersOf, update } from "./table_state.js";
import { waitingView } from "./waiting_view.js";

/** @import { PartsTable, TableState } from "../api/openapi.js" */
/** @import { CheckedChain } from "../api/connection.js" */
/** @import { MyGame } from "../api/my_games.js" */
/** @import { TablePage } from "./table_state.js" */

/** @param {TablePage} page */
function headline({ table, latest, replay }) {
  if (replay) return `Entry ${replay.at} of ${latest.number}`;
  if (table.status !== "playing") return `This game is ${STATUS[table.status]}`;
  const acting = table.seats.filter((seat) => seat.choice !== null);
  if (acting.some((seat) => seat.seat === table.viewer)) return "It is your turn";
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
  <h1>${"parts" in page.table ? upperFirst(page.table.ruleset) : page.board.title}<span class="rules">${page.table.ruleset} rules</span></h1><p class="turn">${headline(page)}</p>
  ${when(page.chain, chainView)}
  <button type="button" class="quiet rules-key" @click=${openRules}>Rules<kbd aria-hidden="true">R</kbd></button>
  <button type="button" class="quiet" aria-pressed=${page.hasSounds} @click=${toggleSounds}>Sounds ${page.hasSounds ? "on" : "off"}</button></header>`;

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
    ({ text, rule }) =>
      html`<p class="banner refusal"><b>Refused.</b> ${text} ${when(rule, ruleLink)}
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
    onRoute: chooseOnRoute,
    onCity: chooseInCity,
  };
}

/** @param {TableState} table */
const stocks = ({ discards, ticket_decks }) => {
  const decks = Object.entries(ticket_decks).map(([deck, count]) => `${count} ${deck}`);
  return html`<p class="facts">${plural(discards, "discard")} · tickets: ${decks.join(", ") || "none"}</p>`;
};

/** @param {TablePage<TableState>} page */
const cardsView = (page) =>
  html`${
    page.table.status === "waiting"
      ? nothing
      : html`<section class="panel" aria-labelledby="market-title"><h2 id="market-title">Market</h2>
  ${marketView(page)}${stocks(page.table)}</section>`
  }
  ${handView(page)}`;

/** @param {TablePage<TableState>} page */
const boardFrame = (page) =>
  html`<div class="board-frame" tabindex="0" role="group" aria-label="Board">${boardView(page.board, boardModel(page))}</div>
        ${boardKey(page.board)}`;

/** What leads away from the game as it is played. @param {TablePage} page @param {MyGame} mine */
const links = ({ table, latest }, mine) =>
  html`<p class="links">
  <button type="button" class="quiet" @click=${() => startReplay(latest.number)}>Look back through the game</button>
  ${when(mine.host && table.status === "playing", () => html`<button type="button" class="quiet" @click=${confirmEnd}>End the game …</button>`)}</p>`;

/**
 * The whole page. Beside a tall board the cards stand with what may be done.
 * @param {TablePage} page
 * @param {MyGame} mine
 */
export function tablePage(page, mine) {
  const { table } = page;
  const isInParts = "parts" in table;
  const inParts = /** @type {TablePage<PartsTable>} */ (page);
  const train = /** @type {TablePage<TableState>} */ (page);
  const isTall = !isInParts && page.board.height > 1.1 * page.board.width;
  const cards = isInParts ? partsView(inParts) : cardsView(train);
  return html`${header(page)}${banners(page)}
    <main id="main" class="table ${table.status}">
      <div class="center">
        ${when(page.replay, (replay) => replayView(page, replay))}
        ${isInParts ? nothing : boardFrame(train)}
        ${isTall ? nothing : cards}
        ${movesView(page)}
      </div>
      <div class="side">
        ${table.status === "waiting" ? waitingView(page, mine) : nothing}
        ${when(table.result, (result) => resultView(table, result))}${isInParts ? partsActions(inParts) : actionsView(train)}${isTall ? cards : nothing}
        ${table.status === "waiting" ? nothing : seatsView(page)}${isInParts ? nothing : ticketsView(train)}
        ${table.status === "over" || page.replay ? nothing : links(page, mine)}</div>
    </main>${choiceView(page)}`;
}

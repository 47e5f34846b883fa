// The page of a table, put together: head, banners, board, panels.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { actionsView, dialogView, marketView, ofType } from "./actions_view.js";
import { boardKey } from "../board/board_key.js";
import { boardView } from "../board/board_view.js";
import { confirmEnd } from "./host_actions.js";
import { movesView, replayView } from "./moves_view.js";
import { handView, resultView, seatsView, ticketsView } from "./seats_view.js";
import { waitingView } from "./waiting_view.js";
import { ago, plural, seatName, STATUS } from "../shared/words.js";

/** The head of the page. */
export function header(app) {
  const { state } = app;
  return html`<header class="top"><a class="home" href="/"><img src="/assets/shared/favicon.svg" alt="" width="28" height="28">Ledgerline</a>
    ${state ? html`<h1>${app.drawing?.title ?? state.board}<span class="rules">${state.ruleset} rules</span></h1><p class="turn">${headline(app)}</p>` : nothing}
    ${sealView(app)}
    ${state ? html`<button type="button" class="quiet" aria-pressed=${app.sounds.on ? "true" : "false"} @click=${() => app.toggleSounds()}>Sounds ${app.sounds.on ? "on" : "off"}</button>` : nothing}</header>`;
}

function headline(app) {
  const { state } = app;
  if (app.replay) return `Entry ${app.replay.at} of ${app.last}`;
  if (state.status !== "playing") return `This game is ${STATUS[state.status]}`;
  const acting = state.seats.filter((seat) => seat.choice !== null);
  if (acting.some((seat) => seat.seat === state.viewer)) return "It is your turn";
  return `${acting.map(seatName).join(" and ") || "Nobody"} ${acting.length > 1 ? "are" : "is"} to move`;
}

function sealView(app) {
  const { sealed } = app;
  if (!sealed) return nothing;
  return sealed.broken ? html`<strong class="seal broken">The chain is broken: don't believe this server</strong>`
    : html`<span class="seal good" title=${`Entries ${sealed.from + 1} to ${sealed.to} follow from the one before`}>✓ ${plural(sealed.to - sealed.from, "entry", "entries")} checked</span>`;
}

function banners(app) {
  const { link, refusal, notice } = app;
  return html`${link.open ? nothing : html`<p class="banner away">The connection is lost. This is the table as of entry ${app.last}, ${ago(performance.now() - app.readAt)}. Trying again.</p>`}
    ${refusal ? html`<p class="banner refusal"><b>Refused.</b> ${refusal.text} ${refusal.rule ? html`<a href="/rules/${refusal.rule}" target="_blank" rel="noopener">Rule ${refusal.rule}</a>` : nothing}
      <button type="button" class="quiet" @click=${() => app.update({ refusal: null })}>Dismiss</button></p>` : nothing}
    ${notice ? html`<p class="banner"><span>${notice.text} ${notice.link ? html`<input class="link" readonly aria-label="Link" .value=${notice.link} @focus=${(event) => event.target.select()}>` : nothing}</span>
      <button type="button" class="quiet" @click=${() => app.update({ notice: null })}>Dismiss</button></p>` : nothing}`;
}

function boardModel(app) {
  const { state, marked, replay } = app;
  const legal = replay ? [] : app.legal;
  const shown = marked ?? [...state.tickets, ...state.offer].find((ticket) => ticket.id === app.pinned);
  return {
    state, closed: new Set(state.closed), latest: app.latest,
    claims: new Set(ofType(legal, "claim_route").map((offer) => offer.command.route)),
    cities: new Set(legal.map((offer) => offer.command.city).filter(Boolean)),
    marked: new Set(shown?.way), ends: new Set(shown?.ends ?? (shown ? [shown.a, shown.b] : [])),
    onRoute: (route) => app.onRoute(route), onCity: (city) => app.onCity(city),
  };
}

const cardsView = (app) => html`${app.state.status === "waiting" ? nothing : html`<section class="panel" aria-labelledby="market-title"><h2 id="market-title">Market</h2>
  ${marketView(app)}<p class="facts">${plural(app.state.discards, "discard")} · tickets: ${Object.entries(app.state.ticket_decks).map(([deck, count]) => `${count} ${deck}`).join(", ") || "none"}</p></section>`}
  ${handView(app)}`;

/** The whole page. Beside a tall board the cards stand with what may be done. */
export function page(app) {
  const { state } = app;
  const isTall = app.drawing.height > 1.1 * app.drawing.width;
  const cards = cardsView(app);
  return html`${header(app)}${banners(app)}
    <main id="main" class="table ${state.status}">
      <div class="center">
        ${replayView(app)}
        <div class="board-frame" tabindex="0" role="group" aria-label="Board">${boardView(app.drawing, boardModel(app))}</div>
        ${boardKey(app.drawing)}
        ${isTall ? nothing : cards}
        ${movesView(app)}
      </div>
      <div class="side">${waitingView(app)}${resultView(app)}${actionsView(app)}${isTall ? cards : nothing}${state.status === "waiting" ? nothing : seatsView(app)}${ticketsView(app)}
        ${state.status === "over" || app.replay ? nothing : html`<p class="links"><button type="button" class="quiet" @click=${() => app.startReplay(app.last)}>Look back through the game</button>
          ${app.mine.host && state.status === "playing" ? html`<button type="button" class="quiet" @click=${() => confirmEnd(app)}>End the game …</button>` : nothing}</p>`}</div>
    </main>${dialogView(app)}`;
}

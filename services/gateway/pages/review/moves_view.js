// @ts-check
// The moves in words, and the slider through them.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { onValue, seatBadge, when } from "../shared/frame.js";
import { gameTime, seatName } from "../shared/words.js";
import { copyMoment } from "../table/acting.js";
import { closeDrawer, toggleDrawer } from "../table/choosing.js";
import { movesOf } from "../table/table_state.js";
import {
  bestMove,
  endReplay,
  seeAs,
  seek,
  seekTurn,
  setSpeed,
  startReplay,
  togglePlaying,
} from "./replay.js";

/** @import { Move } from "../api/openapi.js" */
/** @import { Replay, TablePage } from "../table/table_state.js" */

const NEWS = 3; // moves that are listed beside the table

/** @param {string} title */
export const drawerHead = (title) =>
  html`<div class="drawer-head"><h2 id="drawer-title">${title}</h2><button type="button" class="quiet" @click=${closeDrawer}>Close</button></div>`;

/** @param {Move} move */
const moveBadge = ({ seat }) => (seat === null ? html`<span class="badge nobody"></span>` : seatBadge(seat));

/** The last moves up to what is shown, and the way to all. @param {TablePage} page */
export function newsView({ table, moves, replay, drawer, drawing }) {
  const last = replay ? [] : moves.filter(({ number }) => number <= table.number).slice(-NEWS);
  return html`<section class="panel news" aria-label="The last moves">
    <ol>${last.toReversed().map((move) => html`<li>${moveBadge(move)}<span class="sentence">${move.text.join(" ")}</span></li>`)}</ol>
    <div class="buttons"><button type="button" class="quiet more" aria-keyshortcuts="i" aria-expanded=${drawer === "side"} @click=${() => toggleDrawer("side")}>${drawing.words.drawer}</button>
    <button type="button" class="quiet" aria-keyshortcuts="m" aria-expanded=${drawer === "moves"} @click=${() => toggleDrawer("moves")}>Moves</button></div></section>`;
}

/** The drawer with all moves, the latest first. Each leads to the table as it was then. @param {TablePage} page */
export function movesView(page) {
  if (page.drawer !== "moves") return nothing;
  /** @param {Move} move */
  const row = (move) =>
    html`<li class=${page.replay?.at === move.number ? "now" : ""}>${moveBadge(move)}
      <span class="sentence">${move.text.join(" ")}</span>
      <button type="button" class="quiet number" title="The table after this entry" aria-label=${`Show the table after entry ${move.number}`} @click=${() => startReplay(move.number)}>${move.number}</button></li>`;
  return html`<section class="drawer moves" aria-labelledby="drawer-title">${drawerHead("Moves")}
    <ol class="scroll" tabindex="0" aria-label="Moves, the latest first">${movesOf(page).toReversed().map(row)}</ol></section>`;
}

/** Whose view it is, to be chosen once the game is over. @param {TablePage} page @param {Replay} replay */
function viewerSelect({ table, latest }, { as }) {
  const isPublic = latest.viewer === "public";
  const others = table.seats.filter((seat) => seat.seat !== latest.viewer);
  return html`<label>Seen by <select @change=${onValue((value) => seeAs(value || null))}>
        <option value="" ?selected=${as === null}>${isPublic ? "everybody" : "me"}</option>
        ${isPublic ? nothing : html`<option value="public" ?selected=${as === "public"}>everybody</option>`}
        ${others.map((seat) => html`<option value=${seat.seat} ?selected=${as === String(seat.seat)}>${seatName(seat)}</option>`)}</select></label>`;
}

/** The best moves of the seats. @param {TablePage} page */
function bestSelect(page) {
  const moves = movesOf(page);
  const options = page.table.seats.flatMap((seat) => {
    const move = bestMove(moves, seat.seat);
    return move ? [html`<option value=${move.number}>${seatName(seat)}, +${move.points}</option>`] : [];
  });
  return when(
    options.length,
    () =>
      html`<label>Best move <select .value=${""} @change=${onValue((value) => seek(Number(value)))}>
        <option value="">of …</option>${options}</select></label>`,
  );
}

const SPEEDS = /** @type {const} */ ([
  [1, "slow"],
  [3, "normal"],
  [10, "fast"],
]);

/** The slider of a replay. @param {TablePage} page @param {Replay} replay */
export function replayView(page, replay) {
  const { table, latest } = page;
  const { at, speed, isPlaying } = replay;
  const move = movesOf(page).findLast((each) => each.number <= at);
  return html`<section class="replay" aria-label="Replay">
    <div class="buttons">
      <button type="button" aria-label="First entry" @click=${() => seek(1)}>«</button>
      <button type="button" aria-label="One entry back" ?disabled=${at <= 1} @click=${() => seek(at - 1)}>‹</button>
      <button type="button" class="primary" @click=${togglePlaying}>${isPlaying ? "Pause" : "Play"}</button>
      <button type="button" aria-label="One entry on" ?disabled=${at >= latest.number} @click=${() => seek(at + 1)}>›</button>
      <button type="button" aria-label="Last entry" @click=${() => seek(latest.number)}>»</button>
      <button type="button" @click=${() => seekTurn(replay, -1)}>Turn back</button>
      <button type="button" @click=${() => seekTurn(replay, 1)}>Next turn</button>
      <label>Speed <select @change=${onValue((value) => setSpeed(Number(value)))}>
        ${SPEEDS.map(([each, name]) => html`<option value=${each} ?selected=${speed === each}>${name}</option>`)}</select></label>
      ${latest.status === "over" ? viewerSelect(page, replay) : nothing}
      ${bestSelect(page)}
      <button type="button" class="quiet" @click=${copyMoment}>Copy a link to this moment</button>
      <a href=${`/audit/${page.game}#at=${at}`}>Explain or doubt this entry</a>
      <button type="button" class="quiet" @click=${endReplay}>Back to now</button>
    </div>
    <input type="range" min="1" max=${latest.number} .value=${String(at)} aria-label="Entry of the game" aria-valuetext=${`Entry ${at} of ${latest.number}`}
      @input=${onValue((value) => seek(Number(value)))}>
    <p>Entry ${at} of ${latest.number}, ${gameTime(table.at)}${move?.turn ? `, turn ${move.turn}` : ""}${move ? ` · ${move.text.join(" ")}` : ""}</p>
  </section>`;
}

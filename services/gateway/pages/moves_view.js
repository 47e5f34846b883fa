// The moves in words, and the slider through them.
import { html, nothing } from "./vendor/lit-html/lit-html.js";
import { seatBadge } from "./marks.js";
import { gameTime } from "./words.js";

/** The list of moves, the latest first. Each leads to the table as it was then. */
export function movesView(app) {
  const moves = [...app.moves].reverse();
  return html`<section class="panel moves" aria-labelledby="moves-title"><h2 id="moves-title">Moves</h2>
    <ol class="scroll" tabindex="0" aria-label="Moves, the latest first">${moves.map((move) => html`<li class=${app.replay?.at === move.number ? "now" : ""}>
      ${move.seat === null ? html`<span class="badge nobody"></span>` : seatBadge(move.seat)}
      <span class="said">${move.text.join(" ")}</span>
      <button type="button" class="quiet number" title="The table after this entry" aria-label=${`Show the table after entry ${move.number}`} @click=${() => app.startReplay(move.number)}>${move.number}</button></li>`)}</ol></section>`;
}

/** The slider of a replay. */
export function replayView(app) {
  const { replay } = app;
  if (!replay) return nothing;
  const move = app.moves.findLast((each) => each.number <= replay.at);
  return html`<section class="replay" aria-label="Replay">
    <div class="buttons">
      <button type="button" aria-label="First entry" @click=${() => app.seek(1)}>«</button>
      <button type="button" aria-label="One entry back" ?disabled=${replay.at <= 1} @click=${() => app.seek(replay.at - 1)}>‹</button>
      <button type="button" class="primary" @click=${() => app.playOn()}>${replay.plays ? "Pause" : "Play"}</button>
      <button type="button" aria-label="One entry on" ?disabled=${replay.at >= app.last} @click=${() => app.seek(replay.at + 1)}>›</button>
      <button type="button" aria-label="Last entry" @click=${() => app.seek(app.last)}>»</button>
      <label>Speed <select @change=${(event) => app.setSpeed(Number(event.target.value))}>
        ${[[1, "slow"], [3, "normal"], [10, "fast"]].map(([speed, name]) => html`<option value=${speed} ?selected=${replay.speed === speed}>${name}</option>`)}</select></label>
      <button type="button" class="quiet" @click=${() => app.copyMoment()}>Copy a link to this moment</button>
      <button type="button" class="quiet" @click=${() => app.endReplay()}>Back to now</button>
    </div>
    <input type="range" min="1" max=${app.last} .value=${String(replay.at)} aria-label="Entry of the game" aria-valuetext=${`Entry ${replay.at} of ${app.last}`}
      @input=${(event) => app.seek(Number(event.target.value))}>
    <p>Entry ${replay.at} of ${app.last}, ${gameTime(app.state.at)}${move ? html` · ${move.text.join(" ")}` : nothing}</p>
  </section>`;
}

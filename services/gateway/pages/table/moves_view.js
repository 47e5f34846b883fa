// The moves in words, and the slider through them.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { seatBadge } from "../board/marks.js";
import { gameTime, seatName } from "../shared/words.js";

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
  const { seats } = app.state;
  const best = seats.map((seat) => [seat, replay.best(seat.seat)]).filter(([, found]) => found);
  const over = app.now.status === "over";
  return html`<section class="replay" aria-label="Replay">
    <div class="buttons">
      <button type="button" aria-label="First entry" @click=${() => replay.seek(1)}>«</button>
      <button type="button" aria-label="One entry back" ?disabled=${replay.at <= 1} @click=${() => replay.seek(replay.at - 1)}>‹</button>
      <button type="button" class="primary" @click=${() => replay.play()}>${replay.plays ? "Pause" : "Play"}</button>
      <button type="button" aria-label="One entry on" ?disabled=${replay.at >= app.last} @click=${() => replay.seek(replay.at + 1)}>›</button>
      <button type="button" aria-label="Last entry" @click=${() => replay.seek(app.last)}>»</button>
      <button type="button" @click=${() => replay.jumpTurn(-1)}>Turn back</button>
      <button type="button" @click=${() => replay.jumpTurn(1)}>Next turn</button>
      <label>Speed <select @change=${(event) => replay.setSpeed(Number(event.target.value))}>
        ${[[1, "slow"], [3, "normal"], [10, "fast"]].map(([speed, name]) => html`<option value=${speed} ?selected=${replay.speed === speed}>${name}</option>`)}</select></label>
      ${over ? html`<label>Seen by <select @change=${(event) => replay.seeAs(event.target.value || null)}>
        <option value="" ?selected=${replay.as === null}>${app.now.viewer === "public" ? "everybody" : "me"}</option>
        ${app.now.viewer === "public" ? nothing : html`<option value="public" ?selected=${replay.as === "public"}>everybody</option>`}
        ${seats.filter((seat) => seat.seat !== app.now.viewer).map((seat) => html`<option value=${seat.seat} ?selected=${replay.as === String(seat.seat)}>${seatName(seat)}</option>`)}</select></label>` : nothing}
      ${best.length ? html`<label>Best move <select .value=${""} @change=${(event) => replay.seek(Number(event.target.value))}>
        <option value="">of …</option>${best.map(([seat, found]) => html`<option value=${found.number}>${seatName(seat)}, +${found.points}</option>`)}</select></label>` : nothing}
      <button type="button" class="quiet" @click=${() => app.copyMoment()}>Copy a link to this moment</button>
      <a href=${`/audit/${app.game}#at=${replay.at}`}>Explain or doubt this entry</a>
      <button type="button" class="quiet" @click=${() => app.endReplay()}>Back to now</button>
    </div>
    <input type="range" min="1" max=${app.last} .value=${String(replay.at)} aria-label="Entry of the game" aria-valuetext=${`Entry ${replay.at} of ${app.last}`}
      @input=${(event) => replay.seek(Number(event.target.value))}>
    <p>Entry ${replay.at} of ${app.last}, ${gameTime(app.state.at)}${move?.turn ? html`, turn ${move.turn}` : nothing}${move ? html` · ${move.text.join(" ")}` : nothing}</p>
  </section>`;
}

// @ts-check
// The record of this device, shown: each finished game with place, points, opponents and the way to watch it again.
import { html, nothing, render } from "../vendor/lit-html/lit-html.js";
import {
  clearRecord,
  importFile,
  opponentsOf,
  recordAsCsv,
  recordAsJson,
  recordedGames,
} from "../api/record.js";
import { when } from "../shared/frame.js";
import { plural } from "../shared/words.js";
import { lobby } from "./lobby_state.js";

/** @import { RecordedGame } from "../api/record.js" */

const place = document.createElement("div");
const shown = { said: "", error: "", isClearing: false };
const dialog = () => place.querySelector("dialog");

/** Open it. */
export function openRecord() {
  if (!place.isConnected) document.body.append(place);
  change({ said: "", error: "", isClearing: false });
  dialog()?.showModal();
}

/** @param {Partial<typeof shown>} more */
function change(more) {
  Object.assign(shown, more);
  draw();
}

/** Hand a text to the browser as a file. @param {string} text @param {string} name @param {string} type */
function save(text, name, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

/** @param {{ currentTarget: HTMLInputElement }} event */
async function take({ currentTarget }) {
  const [file] = currentTarget.files ?? [];
  if (!file) return;
  try {
    const count = await importFile(file);
    change({ said: count ? `${plural(count, "game")} imported.` : "All its games were here.", error: "" });
  } catch (error) {
    change({ said: "", error: /** @type {Error} */ (error).message });
  }
  currentTarget.value = "";
}

function clear() {
  clearRecord();
  change({ said: "The record is cleared.", error: "", isClearing: false });
}

const PLACES = ["1st", "2nd", "3rd"];

/** @param {number} number */
const placeWords = (number) => PLACES[number - 1] ?? `${number}th`;

/** @param {RecordedGame} recorded */
function gameRow({ game, seat, title, board, at, seats }) {
  const boardTitle = lobby.catalog?.boards.find(({ id }) => id === board)?.title ?? board ?? title;
  const own = seats[seat];
  const others = opponentsOf({ seat, seats });
  return html`<tr><td><time datetime=${new Date(at).toISOString()}>${new Date(at).toLocaleDateString()}</time></td>
    <th scope="row"><a href="/table/${game}#at=1">${boardTitle}</a></th>
    <td>${placeWords(own.place)} of ${seats.length}</td><td><b>${own.points}</b></td>
    <td><div class="people">${others.map(({ name, points }) => html`<span>${name} <b>${points}</b></span>`)}</div></td></tr>`;
}

/** @param {RecordedGame[]} games */
function summary(games) {
  const won = games.filter(({ seat, seats }) => seats[seat].place === 1).length;
  const mean = games.reduce((sum, { seat, seats }) => sum + seats[seat].points, 0) / games.length;
  return `${plural(games.length, "game")}, ${won} won, ${Math.round(mean)} points on average.`;
}

/** @param {RecordedGame[]} games */
const gamesView = (games) =>
  html`<p>${summary(games)}</p>
    <div class="scroll" tabindex="0" role="group" aria-label="Finished games"><table class="record"><thead><tr><th scope="col">Over</th><th scope="col">Game</th><th scope="col">Place</th><th scope="col">Points</th><th scope="col">Opponents</th></tr></thead>
    <tbody>${games.map(gameRow)}</tbody></table></div>`;

function draw() {
  const games = recordedGames();
  const { said, error, isClearing } = shown;
  const count = plural(games.length, "game");
  render(
    html`<dialog class="record-dialog" aria-labelledby="record-title"><div class="inside">
    <header><h2 id="record-title">My record</h2><button type="button" class="quiet" @click=${() => dialog()?.close()}>Close</button></header>
    ${games.length ? gamesView(games) : html`<p>No game that you played in this browser is over yet. Each one that ends is listed here.</p>`}
    <p class="note">It is stored in this browser alone. To have it elsewhere, export it here and import it there.</p>
    <div class="buttons">
      ${when(
        games.length > 0,
        () =>
          html`<button type="button" @click=${() => save(recordAsJson(), "ledgerline-record.json", "application/json")}>Export as JSON</button>
      <button type="button" @click=${() => save(recordAsCsv(), "ledgerline-record.csv", "text/csv")}>Export as CSV</button>`,
      )}
      <label class="button">Import … <input type="file" class="unseen" accept=".json,application/json" @change=${take}></label>
      ${when(games.length > 0 && !isClearing, () => html`<button type="button" class="quiet" @click=${() => change({ isClearing: true })}>Clear …</button>`)}</div>
    ${isClearing ? html`<p>Forget ${count}? This can’t be undone. <button type="button" class="primary" @click=${clear}>Clear the record</button> <button type="button" class="quiet" @click=${() => change({ isClearing: false })}>No</button></p>` : nothing}
    <p class="note error" role="alert">${error}</p><p class="said" role="status">${said}</p></div></dialog>`,
    place,
  );
}

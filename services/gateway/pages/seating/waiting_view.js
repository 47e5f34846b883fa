// @ts-check
// Before the start: free seats, invitations, and the start itself.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { invitedTo } from "../api/my_games.js";
import { ageField, onSubmit, seatBadge, when } from "../shared/frame.js";
import { plural, seatName, yearsOf } from "../shared/words.js";
import { confirmFree, seatBot, sitDown, start } from "../table/acting.js";
import { copyInvitation, mayInvite, shareTable } from "./inviting.js";

/** @import { SeatState } from "../api/openapi.js" */
/** @import { MyGame } from "../api/my_games.js" */
/** @import { TablePage } from "../table/table_state.js" */

/** @param {TablePage} page @param {number} seat */
const joinForm = ({ name, isBusy, table }, seat) =>
  html`<form class="join" @submit=${onSubmit((field) => sitDown(seat, field("name"), yearsOf(field("age"))))}>
  <label>Your name <input name="name" required pattern=".*\\S.*" title="a name, not blanks alone" maxlength="40" autocomplete="nickname" .value=${name}></label>
  ${table.order === "seated" ? html`<input type="hidden" name="age">` : ageField(table.order)}
  <button class="primary" ?disabled=${isBusy}>Take this seat</button></form>`;

/**
 * Whether who looks at the table may take a free seat.
 * @param {TablePage} page
 * @param {MyGame} mine
 * @param {number} seat
 */
const mayJoin = ({ game, table }, mine, seat) =>
  mine.token === undefined &&
  (mine.invited || table.by_invitation ? invitedTo(game, seat) !== undefined : true);

/** How to get in, for who can't: in one sentence. @param {TablePage} page @param {MyGame} mine */
function wayIn(page, mine) {
  const free = page.table.seats.filter((seat) => !seat.seated);
  if (mine.token !== undefined || !free.length || free.some(({ seat }) => mayJoin(page, mine, seat)))
    return nothing;
  const why = mine.invited
    ? "The seat that your invitation is to is taken: ask who sent it for another one."
    : "These seats are taken by invitation: ask who made the table to send you the link in its address bar.";
  return html`<p class="note way-in">${why}</p>`;
}

/**
 * What may be done with a seat where nobody sits.
 * @param {TablePage} page
 * @param {MyGame} mine
 * @param {number} seat
 */
function freeSeatActions(page, mine, seat) {
  const isInviting = (mine.token !== undefined || mine.host) && mayInvite(page.table);
  return html`${mayJoin(page, mine, seat) ? joinForm(page, seat) : nothing}
    ${when(isInviting, () => html`<button type="button" @click=${() => copyInvitation(seat)}>Copy an invitation</button>`)}
    ${when(mine.host, () => html`<button type="button" ?disabled=${page.isBusy} @click=${() => seatBot(seat)}>Let a bot sit here</button>`)}`;
}

/** @param {SeatState} seat @param {boolean} isFree */
function sitter({ seated, kind, policy }, isFree) {
  if (!seated) return isFree ? "free" : "taken";
  return kind === "bot" ? `a bot, ${policy}` : "is here";
}

/** @param {TablePage} page @param {MyGame} mine @param {SeatState} seat */
function seatRow(page, mine, seat) {
  const isOwn = page.latest.viewer === seat.seat;
  const isFree = page.table.free_seats.includes(seat.seat);
  const mayFree = mine.host && seat.seated && !isOwn;
  return html`<li class="seat free">${seatBadge(seat.seat)}
      <div class="who"><span class="name">${seatName(seat)}</span>${when(isOwn, () => html`<span class="you">you</span>`)}
        <span class="doing">${sitter(seat, isFree)}</span></div>
      ${isFree ? freeSeatActions(page, mine, seat.seat) : nothing}
      ${when(mayFree, () => html`<button type="button" class="quiet" ?disabled=${page.isBusy} @click=${() => confirmFree(seat)}>Free the seat of ${seatName(seat)} …</button>`)}</li>`;
}

/** The table before its game starts. @param {TablePage} page @param {MyGame} mine */
export function waitingView(page, mine) {
  const { seats, free_seats } = page.table;
  const free = free_seats.length;
  const isLate = seats.some((seat) => !seat.seated && !free_seats.includes(seat.seat));
  const mayStart = mine.token !== undefined || mine.host;
  return html`<section class="panel waiting" aria-labelledby="waiting-title"><h2 id="waiting-title">${free ? `${plural(free, "seat")} still free` : isLate ? "Every seat is taken" : "Everybody is here"}</h2>
    <ol class="seats">${seats.map((seat) => seatRow(page, mine, seat))}</ol>
    ${wayIn(page, mine)}
    ${when(free && mine.token !== undefined && mayInvite(page.table), () => html`<button type="button" class="primary large" @click=${() => shareTable(page.table)}>Invite friends</button>`)}
    ${
      mayStart
        ? html`<button type="button" class="primary large" ?disabled=${page.isBusy || free > 0} @click=${start}>Start the game</button>
      ${when(free, () => html`<p class="note">It can start when every seat is taken.</p>`)}`
        : html`${when(isLate, () => html`<p class="note">Who only watches is shown this game later than it is played.</p>`)}
      <p class="note">Whoever made the table, or sits at it, starts the game.</p>`
    }
  </section>`;
}

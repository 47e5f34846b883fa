// Before the start: free seats, invitations, and the start itself.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { confirmFree, seatBot } from "./host_actions.js";
import { seatBadge } from "../board/marks.js";
import { plural, seatName } from "../shared/words.js";

/** Whether who looks may free a seat: the host, where somebody else sits. */
const mayFree = (app, seat) => app.mine.host && seat.seated && app.now.viewer !== seat.seat;

const joinForm = (app, seat) => html`<form class="join" @submit=${(event) => app.join(event, seat)}>
  <label>Your name <input name="name" required maxlength="40" autocomplete="nickname" .value=${app.name}></label>
  <button class="primary" ?disabled=${app.busy}>Take this seat</button></form>`;

function freeSeat(app, seat) {
  const { mine } = app;
  const mayJoin = mine.token === undefined && (mine.invitedTo === undefined || mine.invitedTo === seat.seat);
  return html`${mayJoin ? joinForm(app, seat.seat) : nothing}
    ${mine.token !== undefined || mine.host ? html`<button type="button" @click=${() => app.copyInvitation(seat.seat)}>Copy an invitation</button>` : nothing}
    ${mine.host ? html`<button type="button" ?disabled=${app.busy} @click=${() => seatBot(app, seat.seat)}>Let a bot sit here</button>` : nothing}`;
}

/** The table before its game starts. */
export function waitingView(app) {
  const { state, mine } = app;
  if (state.status !== "waiting") return nothing;
  const free = state.seats.filter((seat) => !seat.seated).length;
  const mayStart = mine.token !== undefined || mine.host;
  return html`<section class="panel waiting" aria-labelledby="waiting-title"><h2 id="waiting-title">${free ? `${plural(free, "seat")} still free` : "Everybody is here"}</h2>
    <ol class="seats">${state.seats.map((seat) => html`<li class="seat free">${seatBadge(seat.seat)}
      <div class="who"><span class="name">${seatName(seat)}</span>${app.now.viewer === seat.seat ? html`<span class="you">you</span>` : nothing}
        <span class="doing">${seat.seated ? (seat.kind === "bot" ? `a bot, ${seat.policy}` : "is here") : "free"}</span></div>
      ${seat.seated ? nothing : freeSeat(app, seat)}
      ${mayFree(app, seat) ? html`<button type="button" class="quiet" ?disabled=${app.busy} @click=${() => confirmFree(app, seat)}>Free the seat of ${seatName(seat)} …</button>` : nothing}</li>`)}</ol>
    ${mayStart ? html`<button type="button" class="primary large" ?disabled=${app.busy || free > 0} @click=${() => app.start()}>Start the game</button>
      ${free ? html`<p class="note">It can start when every seat is taken.</p>` : nothing}` : html`<p class="note">Whoever made the table, or sits at it, starts the game.</p>`}
  </section>`;
}

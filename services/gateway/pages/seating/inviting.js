// @ts-check
// The links that a table is shared by: whichever its host copies lets somebody in.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { beSecond, invitationTo, myGame, rememberInTab, showInAddress } from "../api/my_games.js";
import { seatLetter, seatName } from "../shared/words.js";
import { copy } from "../table/acting.js";
import { game, update } from "../table/table_state.js";

/** @import { AnyTable } from "../table/table_state.js" */

/** The seats of a table that wait for somebody. @param {AnyTable} table */
const freeSeats = ({ status, seats }) => (status === "waiting" ? seats.filter((each) => !each.seated) : []);

/** The part of a link that lets into some seats, each with its invitation; empty where there is none to give. @param {number[]} seats */
function fragmentTo(seats) {
  const known = seats
    .map((seat) => ({ seat, invite: invitationTo(game, seat) }))
    .filter(({ invite }) => invite);
  const pairs = known.flatMap(({ seat, invite }) => [
    ["seat", String(seat)],
    ["invite", String(invite)],
  ]);
  return pairs.length ? `#${new URLSearchParams(pairs)}` : "";
}

/** @param {string} fragment */
const linkWith = (fragment) => `${location.origin}/table/${game}${fragment}`;

/** Whether this browser can let somebody in. @param {AnyTable} table */
export const mayInvite = (table) =>
  !table.by_invitation || freeSeats(table).some(({ seat }) => invitationTo(game, seat) !== undefined);

/** Have the host's address bar say a link that lets in whoever is sent it, while the table waits. @param {AnyTable} table */
export const shareAddress = (table) => showInAddress(fragmentTo(freeSeats(table).map(({ seat }) => seat)));

/** @param {number} seat */
export const copyInvitation = (seat) =>
  copy(linkWith(fragmentTo([seat]) || `#seat=${seat}`), `The invitation to seat ${seatLetter(seat)}`);

/** Send a link to all free seats by what this device has for that; else copy it. @param {AnyTable} table */
export async function shareTable(table) {
  const url = linkWith(fragmentTo(freeSeats(table).map(({ seat }) => seat)));
  const copied = () => copy(url, "The link for your friends");
  if (!navigator.share) return copied();
  return navigator
    .share({ title: document.title, url })
    .catch(({ name }) => (name === "AbortError" ? undefined : copied()));
}

/** Let the second person sit down in this tab. */
function seatSecond() {
  beSecond(game);
  location.reload();
}

/** Go on as who sits here already. */
function stay() {
  rememberInTab(game, { invited: undefined });
  update({ isSecondAsked: false });
}

/** An invitation that was opened where a seat is held: is there a second person? @param {AnyTable} table */
export function secondPersonBanner({ viewer, seats }) {
  if (viewer === "public") return nothing;
  const name = seatName(seats[viewer]);
  return html`<p class="banner" role="alert"><span>You sit here already, as ${name}. Is this invitation for a second person at this browser?</span>
    <button type="button" class="primary" @click=${seatSecond}>Yes, another person sits down here</button>
    <button type="button" @click=${stay}>No, go on as ${name}</button></p>`;
}

/** Whether an invitation of this tab waits while this browser holds a seat. */
export const isInvitedTwice = () => {
  const { invited, token, isSecond } = myGame(game);
  return Boolean(invited?.length && token && !isSecond);
};

/** The token of a second person's seat, in a tab that is nobody's yet. */
export function secondSeat() {
  const { second, isSecond, invited } = myGame(game);
  return second && !isSecond && !invited ? second.token : null;
}

// @ts-check
// What this browser knows of its games: seats, tokens, invitations.
import { ask, newKey, Problem, randomHex } from "./api.js";

/** @import { JoinRequest, SeatInvitation } from "./openapi.js" */

/** An invitation of a link: to a seat, or to any that is free. @typedef {{ seat?: number, invitation?: string }} Invited */
/**
 * A game of this browser.
 * @typedef {object} MyGame
 * @property {number} [seat]
 * @property {string} [name]
 * @property {string} [token] of the seat
 * @property {{ key: string, body: JoinRequest }} [joined] the join that took the seat: sent again, it opens the seat again
 * @property {string} [host] the host's token
 * @property {SeatInvitation[]} [invitations] that the host may give away
 * @property {Invited[]} [invited] the invitations that this tab was opened with
 * @property {boolean} [isSecond] this tab is of a second person at this browser
 * @property {{ seat: number, token: string }} [second] the seat that a second person at this browser has taken
 * @property {number} [seen] the entry up to which it was shown here
 * @property {number} [since] milliseconds since 1970
 */

const GAMES = "ledgerline.games"; // in this browser, for "my games on this device"
const GAME = "ledgerline.game."; // in this tab: several tabs may have several seats
const NAME = "ledgerline.name";

/** @param {Storage} storage @param {string} name */
function read(storage, name) {
  try {
    return JSON.parse(storage.getItem(name) ?? "{}") ?? {};
  } catch {
    return {};
  }
}

/** The name that was used last. */
export const myName = () => localStorage.getItem(NAME) ?? "";

/** The games of this browser, by their ids. @returns {Record<string, MyGame>} */
export const myGames = () => read(localStorage, GAMES);

/** What this tab alone knows of a game. @param {string} game @returns {MyGame} */
const inTab = (game) => read(sessionStorage, GAME + game);

/** What is known of a game. What this tab knows comes first; a second person's has nothing of the first. @param {string} game @returns {MyGame} */
export const myGame = (game) => (inTab(game).isSecond ? inTab(game) : { ...myGames()[game], ...inTab(game) });

/** Know more of a game in this tab alone. @param {string} game @param {MyGame} more */
export function rememberInTab(game, more) {
  sessionStorage.setItem(GAME + game, JSON.stringify({ ...inTab(game), ...more }));
}

/** Know more of a game, in this tab and from now on. @param {string} game @param {MyGame} more */
export function remember(game, more) {
  rememberInTab(game, more);
  const { token, seat } = more;
  const isSecond = inTab(game).isSecond;
  if (isSecond && (!token || seat === undefined)) return;
  const kept = isSecond ? { second: { token: String(token), seat: Number(seat) } } : more;
  const { invited: _, ...lasting } = { ...myGames()[game], ...kept }; // an invitation is of this tab only
  if (!lasting.token && !lasting.host) return;
  const entry = { ...lasting, since: lasting.since ?? Date.now() };
  localStorage.setItem(GAMES, JSON.stringify({ ...myGames(), [game]: entry }));
}

/** @param {string} game */
export function forgetGame(game) {
  const { [game]: _, ...others } = myGames();
  localStorage.setItem(GAMES, JSON.stringify(others));
  sessionStorage.removeItem(GAME + game);
}

/**
 * Go on without a token that the server refused: with another one that this browser holds, or with the one that the join gives
 * when it is sent again. Says whether there is one; where there is none, what the host has of the game stays.
 * @param {string} game
 * @param {string} refused
 */
export async function replaceToken(game, refused) {
  const { token: lasting } = myGames()[game] ?? {};
  const { host, invitations, joined, isSecond } = myGame(game);
  if (isSecond && joined && (await joinAgain(game, joined))) return true;
  if (lasting && lasting !== refused) {
    rememberInTab(game, { token: undefined, seat: undefined, isSecond: undefined }); // it was a link's
    return true;
  }
  if (joined && (await joinAgain(game, joined))) return true;
  forgetGame(game);
  if (host) remember(game, { host, invitations });
  return false;
}

/** @param {string} game @param {NonNullable<MyGame["joined"]>} joined */
async function joinAgain(game, { key, body }) {
  try {
    const { token, seat } = await ask("POST /games/{game}/join", { path: { game }, body, key });
    remember(game, { token, seat });
    return true;
  } catch (error) {
    if (error instanceof Problem && error.status < 500 && error.status !== 429) return false;
    throw error; // the server is away or busy: nothing is forgotten
  }
}

/**
 * The invitation to a seat, where this browser has one to give away.
 * @param {string} game
 * @param {number} seat
 */
export const invitationTo = (game, seat) =>
  myGame(game).invitations?.find((each) => each.seat === seat)?.invitation;

/**
 * Take a seat of a game, and remember it.
 * @param {string} game
 * @param {number} seat
 * @param {string} name
 * @param {{ invitation?: string, age?: number }} more
 */
export async function takeSeat(game, seat, name, { invitation, age }) {
  const contribution = randomHex(32);
  const body = {
    name,
    seat,
    contribution,
    ...(invitation && { invitation }),
    ...(age !== undefined && { age }),
  };
  const key = newKey();
  const taken = await ask("POST /games/{game}/join", { path: { game }, body, key });
  localStorage.setItem(NAME, name);
  const joined = { key, body };
  remember(game, { token: taken.token, seat: taken.seat, name, joined, invited: undefined });
}

/**
 * Free a seat of a game that this browser hosts, and remember the new invitation to it.
 * @param {string} game
 * @param {number} seat
 */
export async function freeSeat(game, seat) {
  const { host, invitations = [] } = myGame(game);
  const path = { game, seat };
  const { invitation } = await ask("POST /games/{game}/seats/{seat}/free", {
    path,
    token: host,
    key: newKey(),
  });
  remember(game, {
    invitations: [...invitations.filter((each) => each.seat !== seat), { seat, invitation }],
  });
}

/** The invitation of this tab that lets its holder take a seat; none where nobody invited it there. @param {string} game @param {number} seat */
export const invitedTo = (game, seat) =>
  myGame(game).invited?.find((each) => each.seat === undefined || each.seat === seat);

/**
 * Move the invitations from the address's fragment into this tab, and all that opens a seat out of the address.
 * @param {string} game
 */
export function takeFragment(game) {
  const fragment = new URLSearchParams(location.hash.slice(1));
  if (isOwnAddress()) return new URLSearchParams();
  const [invitations, seats] = [fragment.getAll("invite"), fragment.getAll("seat")];
  const count = Math.max(invitations.length, seats.length);
  const invited = Array.from({ length: count }, (_, place) => ({
    invitation: invitations[place],
    seat: /^\d$/.test(seats[place]) ? Number(seats[place]) : undefined,
  }));
  if (count) rememberInTab(game, { invited });
  if (count || fragment.has("token")) history.replaceState(null, "", location.pathname + location.search);
  return fragment;
}

/** Whether the invitations in the address were put there by this page, for its host to copy. */
const isOwnAddress = () => history.state?.isOwn === true;

/** Let the address be one that its reader may give away; an empty fragment: the plain one. @param {string} fragment */
export function showInAddress(fragment) {
  if (fragment ? location.hash === fragment : !isOwnAddress()) return;
  history.replaceState(fragment ? { isOwn: true } : null, "", location.pathname + location.search + fragment);
}

/** Let this tab be a second person's, who was invited. @param {string} game */
export function beSecond(game) {
  const { invited } = inTab(game);
  sessionStorage.setItem(GAME + game, JSON.stringify({ isSecond: true, invited }));
}

// @ts-check
// What this browser knows of its games: seats, tokens, invitations.
import { ask, newKey, randomHex } from "./api.js";

/** @import { SeatInvitation } from "./openapi.js" */

/**
 * A game of this browser.
 * @typedef {object} MyGame
 * @property {number} [seat]
 * @property {string} [name]
 * @property {string} [token] of the seat
 * @property {string} [host] the host's token
 * @property {SeatInvitation[]} [invitations] that the host may give away
 * @property {string} [invite] the invitation that this tab was opened with
 * @property {number} [invitedTo] the seat that it is to
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

/** What is known of a game. What this tab knows comes first. @param {string} game @returns {MyGame} */
export const myGame = (game) => ({ ...myGames()[game], ...read(sessionStorage, GAME + game) });

/** @param {string} game @param {MyGame} more */
export function remember(game, more) {
  const known = { ...myGame(game), ...more };
  sessionStorage.setItem(GAME + game, JSON.stringify(known));
  const { invite: _, ...lasting } = known; // an invitation is of this tab only
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

/** Forget what opened a seat. What the host has of the game stays. @param {string} game */
export function forgetSeat(game) {
  const { host, invitations } = myGame(game);
  forgetGame(game);
  if (host) remember(game, { host, invitations });
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
 * @param {string} [invitation]
 */
export async function takeSeat(game, seat, name, invitation) {
  const body = { name, seat, contribution: randomHex(32), ...(invitation ? { invitation } : {}) };
  const joined = await ask("POST /games/{game}/join", { path: { game }, body, key: newKey() });
  localStorage.setItem(NAME, name);
  remember(game, { token: joined.token, seat: joined.seat, name, invite: undefined });
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

/**
 * Move an invitation from the address's fragment into this tab, and out of the address.
 * @param {string} game
 */
export function takeFragment(game) {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const [invite, token, seat] = ["invite", "token", "seat"].map((name) => fragment.get(name));
  const found = {
    ...(invite && { invite }),
    ...(token && { token }),
    ...(seat && /^\d$/.test(seat) && { invitedTo: Number(seat) }),
  };
  if (Object.keys(found).length) {
    sessionStorage.setItem(GAME + game, JSON.stringify({ ...myGame(game), ...found }));
    history.replaceState(null, "", location.pathname + location.search);
  }
  return fragment;
}

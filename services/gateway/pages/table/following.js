// @ts-check
// The table as it is now: read at first; then the connection tells with each entry what has changed.
import { sound } from "../alerts/sounds.js";
import { notifyOfTurn } from "../alerts/turn_alerts.js";
import { ask, Problem } from "../api/api.js";
import { Connection } from "../api/connection.js";
import { myGame, replaceToken } from "../api/my_games.js";
import { recordResult } from "../api/record.js";
import { say } from "../shared/frame.js";
import { present } from "./pacing.js";
import { game, isOwnTurn, lastingNotice, page, update } from "./table_state.js";

/** @import { CheckedChain, FollowedEntry } from "../api/connection.js" */
/** @import { Move, PlayerCommand } from "../api/openapi.js" */
/** @import { Drawing } from "./drawing.js" */
/** @import { FirstReading } from "./first_reading.js" */
/** @import { AnyTable } from "./table_state.js" */

const BEHIND_MS = 1000; // after an entry, until the table is read that no connection has sent
const AGAIN_MS = 2000;

/** @type {Drawing[]} */
let known = [];
/** @type {Connection | undefined} */
let connection;
/** @type {string | undefined} */
let tokenUsed; // for the last reading
/** @type {Promise<void> | null} */
let reading = null;
/** @type {Promise<void> | null} */
let nextReading = null;
let isAnew = false; // the next reading asks for all moves
/** @type {Partial<AnyTable>} */
let followed = {}; // the table, as this connection has sent it
/** @type {(() => void)[]} */
let waiting = []; // for the next table

/** The table after an entry, or the latest. @param {Record<string, string>} query @param {Promise<Response>} [begun] */
export const readTable = (query, begun) =>
  ask("GET /games/{game}/state", { path: { game }, query, token: myGame(game).token, begun });

/** The reading that began while the page loaded, as long as the token is that one. */
export function earlyReading() {
  const found = /** @type {FirstReading | undefined} */ (Reflect.get(globalThis, "firstReading"));
  return found?.token === myGame(game).token ? found : undefined;
}

/** Read the table and what its drawing needs, and follow the game from then on. @param {Drawing[]} drawings of which one draws it */
export async function follow(drawings) {
  known = drawings;
  await refresh(true);
  await page.drawing.load?.();
  connection = new Connection(game, page.latest.number, page.latest.head, {
    entry: take,
    anew: () => refresh(true),
    state: ({ isOpen, isVoid, isOver }) => {
      followed = {};
      if (isVoid || isOver) refresh().catch(() => {}); // a token that is void gives way to none
      if (page.isConnected !== isOpen) update({ isConnected: isOpen });
    },
    watching: (watching) => watching !== page.watching && update({ watching }),
  });
  addEventListener("storage", goOnWithSeat);
}

/**
 * Show the table as an entry leaves it, drawn once with all that it brings.
 * @param {FollowedEntry} entry @param {CheckedChain | null} chain @param {boolean} isOwn
 */
function take({ number, state }, chain, isOwn) {
  page.chain = chain;
  if (state) {
    if (isOwn) page.isBusy = false;
    followed = /** @type {Partial<AnyTable>} */ ({ ...followed, ...state });
    const latest = /** @type {AnyTable} */ (followed);
    if (number > page.latest.number) show(latest, page.latest.number);
  } else shown(number).catch(() => {});
}

/** Until the table after an entry is shown. @param {number} number */
export async function shown(number) {
  while (page.latest.number < number) {
    const next = new Promise((resolve) => waiting.push(() => resolve(true)));
    const late = new Promise((resolve) => setTimeout(resolve, BEHIND_MS, false));
    if (!(await Promise.race([next, late])) && page.latest.number < number) return refresh();
  }
}

/**
 * Send a command on the connection. Gives the number of its entry, or null where there is no verdict: send it another way then.
 * @param {string} id
 * @param {PlayerCommand} command
 */
export const sendAtOnce = async (id, command) => (await connection?.command(id, command)) ?? null;

/** Another tab sat down, or forgot the game: go on with what this browser knows now. */
function goOnWithSeat() {
  if (tokenUsed !== myGame(game).token) renew().catch(() => {});
}

/** Go on with the seat's token, or without one. */
export function renew() {
  connection?.renew();
  return refresh(true);
}

/**
 * Read the table. A reading that has begun may be older than this call: then once more after it, for all such calls.
 * @returns {Promise<void>}
 */
export function refresh(anew = false) {
  isAnew ||= anew;
  if (reading) {
    nextReading ??= reading.catch(() => {}).then(() => refresh());
    return nextReading;
  }
  nextReading = null;
  reading = read(isAnew).finally(() => (reading = null));
  isAnew = false;
  return reading;
}

/**
 * Read the table that somebody failed to act on: it may be another one by now. Where the server is away, read it when it is back.
 * @param {unknown} error
 */
export function refreshAfter(error) {
  const again = () => refresh().catch(refreshAfter);
  if (error instanceof Problem) again();
  else setTimeout(again, AGAIN_MS);
}

/** @param {boolean} anew @returns {Promise<void>} */
async function read(anew) {
  const since = anew || !page.moves.length ? 0 : page.latest.number;
  const { token } = myGame(game);
  tokenUsed = token;
  const query = { since: String(since), ...(token ? { legal: "true" } : {}) };
  /** @type {AnyTable} */
  let latest;
  try {
    latest = await readTable(query, page.latest ? undefined : earlyReading()?.table);
  } catch (error) {
    if (!token || !(error instanceof Problem && error.status === 401)) throw error;
    await goOnWithout(token);
    return read(true);
  }
  if (anew || !page.latest) show(latest, 0);
  else if (latest.number >= page.latest.number) show(latest, since && page.latest.number);
}

/**
 * Show a table that is newer.
 * @param {AnyTable} latest
 * @param {number} since the entry up to which its moves are known; 0: none are
 */
function show(latest, since) {
  const fresh = latest.moves.filter((move) => move.number > since);
  if (since) announce(latest, fresh);
  if (page.refusal?.isAway) page.refusal = null;
  if (since && latest.status !== page.latest.status) page.notice = lastingNotice(page);
  page.drawing ??= /** @type {Drawing} */ (known.find((drawing) => drawing.draws(latest)));
  page.drawing.arrived?.(latest);
  const moves = since ? [...page.moves, ...fresh] : fresh;
  recordResult(latest);
  Object.assign(page, { latest, readAt: performance.now(), moves });
  present(latest, since ? fresh : []);
  const waited = waiting;
  waiting = [];
  for (const go of waited) go();
}

/** The seat was freed, or its token withdrawn: go on with another, or as one who watches. @param {string} token */
async function goOnWithout(token) {
  if (!(await replaceToken(game, token))) {
    page.notice = {
      text: "You don't hold a seat here any more: the host has freed it, or its token was withdrawn.",
    };
  }
  connection?.renew();
}

/** Say what is new, in words, and by a tone and a notice where they are on. @param {AnyTable} latest @param {Move[]} moves */
function announce(latest, moves) {
  const text = moves.flatMap((move) => move.text).join(" ");
  if (text) say(text);
  if (isOwnTurn(latest) && !isOwnTurn(page.latest)) {
    sound("turn");
    notifyOfTurn();
  } else if (moves.some((move) => move.seat !== latest.viewer)) sound("move");
}

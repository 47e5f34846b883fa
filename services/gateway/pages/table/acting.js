// @ts-check
// What people do at a table: commands, seats, the start, and what a host may. The server says whether they may.
import { ask, newKey, Problem } from "../api/api.js";
import { freeSeat, invitedTo, myGame, takeSeat } from "../api/my_games.js";
import { seatName } from "../shared/words.js";
import { choose, closeChoice, focusOnActions } from "./choosing.js";
import { refresh, refreshAfter, renew, sendAtOnce, shown } from "./following.js";
import { game, lastingNotice, page, refuse, update } from "./table_state.js";

/** @import { PlayerCommand, SeatBotRequest, SeatState } from "../api/openapi.js" */

const path = { game };

/**
 * Do something, with nothing else to be done meanwhile; show why where it is refused.
 * @param {() => Promise<void>} action
 */
export async function attempt(action) {
  const held = document.activeElement;
  Object.assign(page, { isBusy: true, refusal: null, since: null, notice: lastingNotice(page) });
  const done = action(); // it is on its way while the page is drawn
  update({});
  try {
    await done;
  } catch (error) {
    refuse(error);
    refreshAfter(error);
  }
  if (page.isBusy) update({ isBusy: false });
  keepFocus(held);
}

/** Give the focus back to what held it and was disabled meanwhile; where that is gone, to what may be done now. @param {Element | null} held */
function keepFocus(held) {
  const { activeElement, body } = document;
  if (!(held instanceof HTMLElement) || held === body || (activeElement !== body && activeElement !== held))
    return;
  held.focus();
  if (document.activeElement !== held || !held.checkVisibility()) focusOnActions();
}

/** Send a command. A second try, another way, is of the same key: it is executed once. @param {PlayerCommand} command */
export function send(command) {
  closeChoice();
  const key = newKey();
  const request = { path, body: command, token: myGame(game).token, key };
  const post = () => ask("POST /games/{game}/commands", request);
  return attempt(async () => {
    const number =
      (await sendAtOnce(key, command)) ??
      (await post().catch((error) => (error instanceof Problem ? Promise.reject(error) : post()))).number;
    if (number !== undefined) await shown(number);
  });
}

/** @param {number} seat @param {string} name @param {number} [age] in years */
export const sitDown = (seat, name, age) =>
  attempt(async () => {
    await takeSeat(game, seat, name, { invitation: invitedTo(game, seat)?.invitation, age });
    await renew();
  });

/** Do something that makes an entry, and show it. @param {() => Promise<unknown>} action */
const act = (action) =>
  attempt(async () => {
    await action();
    await refresh();
  });

export function start() {
  const { token, host = token } = myGame(game);
  return act(() => ask("POST /games/{game}/start", { path, token: host, key: newKey() }));
}

/** Let a bot sit there: one that plays to win, where the game has one. @param {number} seat */
export const seatBot = (seat) =>
  act(async () => {
    const { rulesets } = await ask("GET /rulesets");
    const policies = rulesets.find(({ name }) => name === page.latest.ruleset)?.policies ?? [];
    const policy = /** @type {SeatBotRequest["policy"]} */ (
      policies.includes("greedy") ? "greedy" : policies[0]
    );
    const request = { path: { game, seat }, body: { policy }, token: myGame(game).host, key: newKey() };
    return ask("POST /games/{game}/seats/{seat}/bot", request);
  });

/**
 * Do something that was confirmed.
 * @param {string} title
 * @param {string} question
 * @param {string} text
 * @param {() => Promise<unknown>} action
 */
function confirm(title, question, text, action) {
  const run = () => {
    closeChoice();
    return act(action);
  };
  choose({ title, question, offers: [], confirmation: { text, run } });
}

/** Free a seat before the start, once the host has said so again. @param {SeatState} seat */
export const confirmFree = (seat) =>
  confirm(
    `Free the seat of ${seatName(seat)}?`,
    "Who sits there loses the seat. Ten seconds later somebody else can take it, or a bot.",
    "Free the seat",
    () => freeSeat(game, seat.seat),
  );

/** End a game that nobody plays on. */
export const confirmEnd = () =>
  confirm(
    "End the game?",
    "A game that nobody plays on is counted as it stands. This can't be undone.",
    "End the game",
    () => ask("POST /games/{game}/end", { path, token: myGame(game).host, key: newKey() }),
  );

/** Copy a link to what a replay shows. */
export function copyMoment() {
  const { at = page.latest.number, as = null } = page.replay ?? {};
  const fragment = new URLSearchParams({ at: String(at), ...(as === null ? {} : { as }) });
  return copy(`${location.origin}/table/${game}#${fragment}`, "The link to this moment");
}

/** @param {string} link @param {string} what */
export async function copy(link, what) {
  const isCopied = await Promise.resolve(navigator.clipboard?.writeText(link).then(() => true)).catch(
    () => false,
  );
  update({ notice: { text: isCopied ? `${what} is copied.` : `${what}:`, link } });
}

// @ts-check
// What the page of a table shows. Actions change it by `update`, and it is drawn anew.
import { Problem } from "../api/api.js";
import { myName } from "../api/my_games.js";
import { reasonOf, say } from "../shared/frame.js";
import { seatName, withNames } from "../shared/words.js";

/** @import { JudgedChoice, LegalCommand, Move, PartsTable, PlayerCommand, Rematch, SuggestedCommand, TableState } from "../api/openapi.js" */
/** @import { CheckedChain } from "../api/connection.js" */
/** @import { SeatLink } from "../shared/seat_link.js" */
/** @import { Drawing } from "./drawing.js" */

/** The viewer's choices that were judged so far, of so many. @typedef {{ judged: JudgedChoice[], choices: number, isRunning: boolean }} Analysis */
/** A table that a drawing of its own knows, or one that its game describes in parts. @typedef {TableState | PartsTable} AnyTable */
/**
 * What is asked before something is done: which of these commands, or whether to do it.
 * @typedef {object} Choice
 * @property {string} title
 * @property {string} question
 * @property {LegalCommand[]} offers
 * @property {[string, string][]} [keys] with what each does
 * @property {{ text: string, run: () => void }} [confirmation]
 */
/**
 * A game looked back through.
 * @typedef {object} Replay
 * @property {number} at the entry after which the table is shown
 * @property {string | null} as whose view it is; null: one's own
 * @property {number} speed
 * @property {boolean} isPlaying
 * @property {Move[] | null} moves as they were told to another viewer
 */
/**
 * @template {AnyTable} [T=AnyTable]
 * @typedef {object} TablePage
 * @property {string} game
 * @property {string} name that the viewer sat down with last
 * @property {Drawing} drawing
 * @property {T} table that is shown: the latest, or one of a replay
 * @property {T} latest
 * @property {number} readAt when the latest was read, as performance.now() counts
 * @property {Move[]} moves all up to the latest
 * @property {Set<string>} marks of what the last moves that are shown have changed
 * @property {Move[] | null} since the viewer's last move, for who came back
 * @property {Rematch | null} rematch that was offered
 * @property {Replay | null} replay
 * @property {boolean} isConnected
 * @property {number} watching how many do, without a seat
 * @property {CheckedChain | null} chain
 * @property {boolean} isBusy a command is on its way
 * @property {Choice | null} choice that is open
 * @property {{ number: number, commands: SuggestedCommand[] | null } | null} hint that was asked for after an entry; its commands are null while the server thinks
 * @property {Analysis | null} analysis of the viewer's choices, once the game is over
 * @property {"side" | "moves" | null} drawer that is open
 * @property {{ text: string, rule: string, isAway: boolean } | null} refusal why something wasn't done; `isAway`: for as long as the server is away
 * @property {{ text: string, link?: string } | null} notice with a link that was copied: until the next thing happens
 * @property {SeatLink | null} link that the page was opened by, while its holder hasn't said which seat counts
 * @property {boolean} isSecondAsked an invitation was opened where a seat is held: its holder hasn't said whose it is
 * @property {boolean} hasSounds
 * @property {boolean} hasNotices of the viewer's turn, by the browser
 */

export const game = location.pathname.split("/")[2];

/** The state of the page; tables and their drawing are there before it is drawn first. */
export const page = /** @type {TablePage} */ ({
  game,
  name: myName(),
  moves: /** @type {Move[]} */ ([]),
  marks: new Set(),
  since: null,
  rematch: null,
  replay: null,
  isConnected: true,
  watching: 0,
  chain: null,
  isBusy: false,
  choice: null,
  hint: null,
  analysis: null,
  drawer: null,
  refusal: null,
  notice: null,
  link: null,
  isSecondAsked: false,
});

let draw = () => {};

/** Have the page drawn by this from now on. @param {() => void} drawing */
export function drawWith(drawing) {
  draw = drawing;
  draw();
}

/** @param {Partial<TablePage>} change */
export function update(change) {
  Object.assign(page, change);
  draw();
}

/** Show why something was refused. @param {unknown} error */
export function refuse(error) {
  const isAway = !(error instanceof Problem);
  const refusal = {
    text: withNames(reasonOf(error), page.latest?.seats ?? []),
    rule: isAway ? "" : error.rule,
    isAway,
  };
  say(`${isAway ? "Not done" : "Refused"}: ${refusal.text}`);
  update({ refusal });
}

/** The notice, unless it is about a link that was copied: something else was done since. @param {TablePage} page */
export const lastingNotice = ({ notice }) => (notice?.link ? null : notice);

/** Whether it is the viewer's turn, or the viewer is asked for something. @param {AnyTable} table */
export const isOwnTurn = ({ status, seats, viewer }) =>
  status === "playing" && seats.some(({ seat, choice }) => seat === viewer && choice !== null);

/** The moves as the viewer is told them: in a replay, the viewer whose view it is. @param {TablePage} page */
export const movesOf = ({ replay, moves }) => replay?.moves ?? moves;

/**
 * @template {PlayerCommand["type"]} T
 * @typedef {LegalCommand & { command: Extract<PlayerCommand, { type: T }> }} Offer
 */

/**
 * The legal commands of a type.
 * @template {PlayerCommand["type"]} T
 * @param {AnyTable} table
 * @param {T} type
 */
export const offersOf = ({ legal }, type) =>
  /** @type {Offer<T>[]} */ ((legal ?? []).filter((offer) => offer.command.type === type));

/**
 * Of whom the cards are: a game that is over is seen as any seat saw it.
 * @param {TablePage} page
 */
export function owner({ table, latest }) {
  const seat = table.seats.find((each) => each.seat === table.viewer);
  return table.viewer === latest.viewer || !seat ? "Your" : `${seatName(seat)}’s`;
}

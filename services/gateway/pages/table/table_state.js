// @ts-check
// What the page of a table shows. Actions change it by `update`, and it is drawn anew.
import { reasonOf, say } from "../shared/frame.js";
import { Problem } from "../api/api.js";
import { myName } from "../api/my_games.js";
import { seatName } from "../shared/words.js";

/** @import { BoardDrawing, LegalCommand, Move, PartsTable, PlayerCommand, TableState, TicketState } from "../api/openapi.js" */
/** @import { CheckedChain } from "../api/connection.js" */
/** @import { SeatLink } from "../shared/seat_link.js" */

/** A train game's table, or one that its game describes in parts. @typedef {TableState | PartsTable} AnyTable */
/** What is pointed at on the board. @typedef {{ routes: string[], cities: string[] }} Pointed */
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
 * @property {BoardDrawing} board of a train game
 * @property {T} table that is shown: the latest, or one of a replay
 * @property {T} latest
 * @property {number} readAt when the latest was read, as performance.now() counts
 * @property {Move[]} moves all up to the latest
 * @property {Set<string>} newRoutes claimed by the last moves that are shown
 * @property {Replay | null} replay
 * @property {boolean} isConnected
 * @property {CheckedChain | null} chain
 * @property {boolean} isBusy a command is on its way
 * @property {Choice | null} choice that is open
 * @property {Set<number>} chosenTickets their places in the offer
 * @property {Pointed | null} pointed
 * @property {string | null} pinnedTicket whose way is shown while nothing is pointed at
 * @property {"side" | "moves" | null} drawer that is open
 * @property {{ text: string, rule: string, isAway: boolean } | null} refusal why something wasn't done; `isAway`: for as long as the server is away
 * @property {{ text: string, link?: string } | null} notice with a link that was copied: until the next thing happens
 * @property {SeatLink | null} link that the page was opened by, while its holder hasn't said which seat counts
 * @property {boolean} isSecondAsked an invitation was opened where a seat is held: its holder hasn't said whose it is
 * @property {boolean} hasSounds
 * @property {boolean} hasNotices of the viewer's turn, by the browser
 */

export const game = location.pathname.split("/")[2];

/** The state of the page; tables, and the board of a train game, are there before it is drawn first. */
export const page = /** @type {TablePage} */ ({
  game,
  name: myName(),
  moves: /** @type {Move[]} */ ([]),
  newRoutes: new Set(),
  replay: null,
  isConnected: true,
  chain: null,
  isBusy: false,
  choice: null,
  chosenTickets: new Set(),
  pointed: null,
  pinnedTicket: null,
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
  const refusal = { text: reasonOf(error), rule: isAway ? "" : error.rule, isAway };
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

/** @param {BoardDrawing} board @param {string} id */
export const cityName = ({ cities }, id) => cities.find((city) => city.id === id)?.name ?? id;

/** A ticket by the names of its cities. @param {BoardDrawing} board @param {TicketState} ticket */
export const ticketName = (board, { a, b }) => [a, b].map((id) => cityName(board, id)).join(" – ");

/**
 * Of whom the cards and tickets are: a game that is over is seen as any seat saw it.
 * @param {TablePage} page
 */
export function owner({ table, latest }) {
  const seat = table.seats.find((each) => each.seat === table.viewer);
  return table.viewer === latest.viewer || !seat ? "Your" : `${seatName(seat)}’s`;
}

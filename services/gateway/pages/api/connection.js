// @ts-check
// Following a game: a WebSocket that comes back by itself, also from a network that died without a word; it carries commands,
// and the hash chain is checked as entries arrive.
import { Problem } from "./api.js";
import { followsFrom } from "./chain.js";
import { myGame } from "./my_games.js";

/** @import { EntryBody, PartsTable, PlayerCommand, Problem as ProblemBody, TableState } from "./openapi.js" */

/** How the connection is: `isVoid` says that the token is, `isOver` that the game is. @typedef {{ isOpen: boolean, isVoid?: boolean, isOver?: boolean }} ConnectionState */
/** An entry, and what has changed on the table since the entry before; at first all. @typedef {EntryBody & { state?: Partial<TableState> | Partial<PartsTable> }} FollowedEntry */
/** The entries after `from` up to `to` were checked. @typedef {{ from: number, to: number, isBroken: boolean }} CheckedChain */
/** @typedef {{ type: "attached" } | { type: "alive", watching: number } | ({ type: "entry" } & FollowedEntry) | { type: "problem", id: string | null, problem: ProblemBody } | { type: "unknown", id: string }} Message */
/**
 * What is done with what arrives.
 * @typedef {object} Listener
 * @property {(entry: FollowedEntry, chain: CheckedChain | null, isOwn: boolean) => void} entry which this page's own command made, or another's; and the chain up to it
 * @property {() => void} anew the server lost entries that were shown
 * @property {(state: ConnectionState) => void} state
 * @property {(watching: number) => void} watching how many watch the game
 */

const PAUSES_MS = [300, 1000, 3000, 9000, 20000]; // each varies by half: many come back from one fault
const GO_ELSEWHERE = 1012; // the server stops, and another one is there
const ELSEWHERE_MS = 200; // at most, until we come back there: not all at one moment
const BEGIN_ANEW = 4002; // the server lost entries that we have
const SILENT_MS = 9000; // without any message, of which the server sends one every 5 s: the connection has died
const FRESH_MS = 5500; // a connection that was heard from so lately may well live
const ANSWER_MS = 3000; // for the verdict on a command, before it is sent another way

/** Follows a game from an entry on. */
export class Connection {
  /** @type {WebSocket | null} */ #socket = null;
  /** @type {number | undefined} */ #timer;
  /** @type {number | undefined} */ #deadline;
  /** @type {Map<string, (number: number | null, problem?: Problem) => void>} */ #asked = new Map();
  /** @type {CheckedChain | null} */ #chain = null;
  #heardAt = 0;
  #isOver = false;
  #tries = 0;

  /** @param {string} game @param {number} number @param {string | null} head @param {Listener} listener */
  constructor(game, number, head, listener) {
    this.game = game;
    this.number = number;
    this.head = head;
    this.listener = listener;
    addEventListener("online", () => this.#wake(0)); // it may be another network
    addEventListener("pageshow", () => this.#wake());
    document.addEventListener(
      "visibilitychange",
      () => document.visibilityState === "visible" && this.#wake(),
    );
    this.#open();
  }

  /** Come back at once, unless the connection was heard from so lately. @param {number} [fresh] in milliseconds */
  #wake(fresh = FRESH_MS) {
    const isFresh = performance.now() - this.#heardAt < fresh;
    if (!this.#isOver && !(isFresh && this.#socket && this.#socket.readyState <= WebSocket.OPEN))
      this.renew();
  }

  #open() {
    clearTimeout(this.#timer);
    const { token } = myGame(this.game);
    const known = `after=${this.number}&proofs=true&state=true&alive=true${this.head ? `&head=${this.head}` : ""}`;
    const protocol = location.protocol === "https:" ? "wss" : "ws";
    const address = `${protocol}://${location.host}/v1/games/${this.game}/play?${known}`;
    const socket = new WebSocket(address, token ? ["ledgerline", `token.${token}`] : ["ledgerline"]);
    this.#socket = socket;
    this.#hear();
    socket.addEventListener("message", ({ data }) => socket === this.#socket && this.#take(JSON.parse(data)));
    socket.addEventListener("close", ({ code }) => socket === this.#socket && this.#lost(code));
  }

  /** The connection lives: when nothing more is heard of it for long, it has died. */
  #hear() {
    clearTimeout(this.#deadline);
    this.#heardAt = performance.now();
    this.#deadline = setTimeout(() => this.#lost(), SILENT_MS);
  }

  /** @param {Message} message */
  #take(message) {
    this.#hear();
    if (message.type === "attached") {
      this.#tries = 0;
      this.listener.state({ isOpen: true });
    } else if (message.type === "alive") {
      this.listener.watching(message.watching);
    } else if (message.type === "entry") {
      this.#check(this.head, message);
      this.number = Math.max(this.number, message.number);
      this.head = message.head;
      this.listener.entry(message, this.#chain, this.#asked.has(message.answers ?? ""));
      if (message.answers) this.#answer(message.answers, message);
    } else if (message.type === "problem" && message.id === null) {
      this.listener.state({ isOpen: false, isVoid: message.problem.status === 401 });
    } else if (message.type === "problem") {
      this.#asked.get(message.id ?? "")?.(null, new Problem(message.problem, message.problem.status));
    } else if (message.type === "unknown") {
      this.#asked.get(message.id)?.(null);
    }
  }

  /** Tell who sent a command of its verdict. @param {string} id @param {EntryBody} entry */
  #answer(id, { number, events }) {
    const verdict = /** @type {{ type: string, why: string, rule: string }[]} */ (events);
    const refused = verdict.find((event) => event.type === "command_refused");
    const problem = refused && new Problem({ detail: refused.why, rule: refused.rule }, 409);
    this.#asked.get(id)?.(number, problem);
  }

  /**
   * Send a command. Gives the number of its entry; null where the connection brings no verdict: then send it another way, under
   * the same id. Throws Problem where it is refused.
   * @param {string} id
   * @param {PlayerCommand} command
   * @returns {Promise<number | null>}
   */
  command(id, command) {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      this.#asked.set(id, (number, problem) => {
        this.#asked.delete(id);
        if (problem) reject(problem);
        else resolve(number);
      });
      setTimeout(() => this.#asked.get(id)?.(null), ANSWER_MS);
      socket.send(JSON.stringify({ id, command }));
    });
  }

  /** @param {string | null} head @param {EntryBody} entry */
  #check(head, entry) {
    if (!head || !entry.proof) return;
    const { from, isBroken } = this.#chain ?? { from: this.number, isBroken: false };
    this.#chain = { from, to: entry.number, isBroken: isBroken || !followsFrom(head, entry) };
  }

  /** Leave the connection, of which nothing more will be heard. */
  #leave() {
    const old = this.#socket;
    this.#socket = null;
    clearTimeout(this.#deadline);
    clearTimeout(this.#timer);
    old?.close();
    this.#asked.forEach((settle) => settle(null));
  }

  /** @param {number} [code] of the close; none where the connection died without a word */
  #lost(code) {
    this.#leave();
    if (code === 1000) {
      this.#isOver = true;
      this.listener.state({ isOpen: true, isOver: true });
      return;
    }
    if (code === BEGIN_ANEW) {
      this.number = 0;
      this.head = null;
      this.listener.anew();
    }
    this.listener.state({ isOpen: false });
    const isFirst = code === GO_ELSEWHERE && this.#tries === 0;
    const pause = isFirst
      ? Math.random() * ELSEWHERE_MS
      : PAUSES_MS[Math.min(this.#tries, PAUSES_MS.length - 1)] * (0.5 + Math.random());
    this.#tries += 1;
    this.#timer = setTimeout(() => this.#open(), pause);
  }

  /** Come back with the token that this browser has now. */
  renew() {
    this.#leave();
    this.#open();
  }
}

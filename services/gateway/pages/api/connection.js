// @ts-check
// Following a game: a WebSocket that comes back by itself, and the hash chain checked as entries arrive.
import { followsFrom } from "./chain.js";
import { myGame } from "./my_games.js";

/** @import { EntryBody, Problem } from "./openapi.js" */

/** How the connection is: `isVoid` says that the token is. @typedef {{ isOpen: boolean, isVoid?: boolean }} ConnectionState */
/** The entries after `from` up to `to` were checked. @typedef {{ from: number, to: number, isBroken: boolean }} CheckedChain */
/** @typedef {{ type: "attached" } | ({ type: "entry" } & EntryBody) | { type: "problem", problem: Problem }} Message */
/**
 * What is done with what arrives.
 * @typedef {object} Listener
 * @property {(number: number) => void} entry
 * @property {() => void} anew the server lost entries that were shown
 * @property {(state: ConnectionState) => void} state
 * @property {(chain: CheckedChain) => void} chain
 */

const PAUSES_MS = [300, 700, 1500, 3000, 6000, 10000];
const BEGIN_ANEW = 4002; // the server lost entries that we have

/** Follows a game from an entry on. */
export class Connection {
  /** @type {WebSocket | null} */ #socket = null;
  /** @type {number | undefined} */ #timer;
  #tries = 0;
  #checks = Promise.resolve();

  /** @param {string} game @param {number} number @param {string | null} head @param {Listener} listener */
  constructor(game, number, head, listener) {
    this.game = game;
    this.number = number;
    this.head = head;
    this.listener = listener;
    /** @type {CheckedChain} */
    this.chain = { from: number, to: number, isBroken: false };
    const wake = () => this.#socket?.readyState !== WebSocket.OPEN && this.#open();
    addEventListener("online", wake);
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && wake());
    this.#open();
  }

  #open() {
    clearTimeout(this.#timer);
    if (this.#socket?.readyState === WebSocket.CONNECTING) return;
    const { token } = myGame(this.game);
    const known = `after=${this.number}&proofs=true${this.head ? `&head=${this.head}` : ""}`;
    const protocol = location.protocol === "https:" ? "wss" : "ws";
    const address = `${protocol}://${location.host}/v1/games/${this.game}/play?${known}`;
    const socket = new WebSocket(address, token ? ["ledgerline", `token.${token}`] : ["ledgerline"]);
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => socket === this.#socket && this.#take(JSON.parse(data)));
    socket.addEventListener("close", ({ code }) => socket === this.#socket && this.#lost(code));
  }

  /** @param {Message} message */
  #take(message) {
    if (message.type === "attached") {
      this.#tries = 0;
      this.listener.state({ isOpen: true });
    } else if (message.type === "entry") {
      this.#check(this.head, message);
      this.number = message.number;
      this.head = message.head;
      this.listener.entry(message.number);
    } else if (message.type === "problem") {
      this.listener.state({ isOpen: false, isVoid: message.problem.status === 401 });
    }
  }

  /** @param {string | null} head @param {EntryBody} entry */
  #check(head, entry) {
    if (!head || !entry.proof || !crypto.subtle) return;
    this.#checks = this.#checks.then(async () => {
      const isBroken = this.chain.isBroken || !(await followsFrom(head, entry));
      this.chain = { ...this.chain, to: entry.number, isBroken };
      this.listener.chain(this.chain);
    });
  }

  /** @param {number} code of the close */
  #lost(code) {
    if (code === 1000) return this.listener.state({ isOpen: true }); // the game is over
    if (code === BEGIN_ANEW) {
      this.number = 0;
      this.head = null;
      this.listener.anew();
    }
    this.listener.state({ isOpen: false });
    const pause = PAUSES_MS[Math.min(this.#tries, PAUSES_MS.length - 1)];
    this.#tries += 1;
    this.#timer = setTimeout(() => this.#open(), pause);
  }

  /** Come back with the token that this browser has now. */
  renew() {
    const old = this.#socket;
    this.#socket = null;
    old?.close();
    this.#open();
  }
}

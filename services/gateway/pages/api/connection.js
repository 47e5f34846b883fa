// Following a game: a WebSocket that comes back by itself, and the hash chain checked as entries arrive.
import { ask, held } from "./api.js";

const PAUSES_MS = [300, 700, 1500, 3000, 6000, 10000];
const BEGIN_ANEW = 4002; // the server lost entries that we have

const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

async function sha256(...parts) {
  const texts = new TextEncoder();
  const all = parts.map((part) => (typeof part === "string" ? texts.encode(part) : part));
  const joined = new Uint8Array(all.reduce((size, part) => size + part.length, 0));
  let place = 0;
  for (const part of all) {
    joined.set(part, place);
    place += part.length;
  }
  return new Uint8Array(await crypto.subtle.digest("SHA-256", joined));
}

/** The head after entry `number` (docs/proof.md), in hex. */
export async function nextHead(previous, number, publicBytes) {
  const sequence = new Uint8Array(8);
  new DataView(sequence.buffer).setBigUint64(0, BigInt(number));
  const leaf = await sha256("ledgerline/leaf/1", publicBytes);
  return hexOf(await sha256("ledgerline/head/1", sequence, bytesOf(previous), leaf));
}

/** The head before the first entry, in hex. */
export const firstHead = async (game) => hexOf(await sha256("ledgerline/chain/1", game));

/** The bytes of an entry's proof. */
export const provenBytes = (entry) => Uint8Array.from(atob(entry.proof.public), (letter) => letter.charCodeAt(0));

/** Follows a game from an entry on. `on` has: entry(number), state({open, why, isVoid}), anew(), sealed({from, to, broken}). */
export class Connection {
  constructor(game, number, head, on) {
    Object.assign(this, { game, number, head, on, tries: 0, closed: false });
    this.sealed = { from: number, to: number, broken: false };
    this.checks = Promise.resolve();
    this.wake = () => this.socket?.readyState !== WebSocket.OPEN && this.open();
    addEventListener("online", this.wake);
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.wake());
    this.open();
  }

  open() {
    clearTimeout(this.timer);
    if (this.closed || this.socket?.readyState === WebSocket.CONNECTING) return;
    const { token } = held(this.game);
    const known = `after=${this.number}&proofs=true${this.head ? `&head=${this.head}` : ""}`;
    const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/v1/games/${this.game}/play?${known}`;
    const socket = new WebSocket(address, token ? ["ledgerline", `token.${token}`] : ["ledgerline"]);
    this.socket = socket;
    socket.onmessage = (message) => socket === this.socket && this.take(JSON.parse(message.data));
    socket.onclose = (event) => socket === this.socket && this.lost(event);
  }

  take(message) {
    if (message.type === "attached") {
      this.tries = 0;
      this.on.state({ open: true });
    } else if (message.type === "entry") {
      const { number, head } = message;
      this.check(this.head, message);
      this.number = number;
      this.head = head;
      this.on.entry(number);
    } else if (message.type === "problem") {
      this.on.state({ open: false, why: message.problem.detail, isVoid: message.problem.status === 401 });
    }
  }

  check(previous, entry) {
    if (!previous || !entry.proof || !crypto.subtle) return;
    this.checks = this.checks.then(async () => {
      const isNext = (await nextHead(previous, entry.number, provenBytes(entry))) === entry.head;
      this.sealed = { ...this.sealed, to: entry.number, broken: this.sealed.broken || !isNext };
      this.on.sealed(this.sealed);
    });
  }

  lost(event) {
    if (this.closed) return;
    if (event.code === 1000) return this.on.state({ open: true, over: true });
    if (event.code === BEGIN_ANEW) {
      this.number = 0;
      this.head = null;
      this.on.anew();
    }
    this.on.state({ open: false, why: event.reason });
    const pause = PAUSES_MS[Math.min(this.tries, PAUSES_MS.length - 1)];
    this.tries += 1;
    this.timer = setTimeout(() => this.open(), pause);
  }

  /** Come back with the token that this browser has now. */
  renew() {
    const old = this.socket;
    this.socket = null;
    old?.close();
    this.open();
  }
}

/** The head of the chain after the last entry of a state that was read. */
export const readState = (game, params = {}) => {
  const query = new URLSearchParams(params).toString();
  return ask(`/games/${game}/state${query ? `?${query}` : ""}`, { token: held(game).token });
};

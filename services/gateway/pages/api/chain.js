// @ts-check
// The hash chain of a game (docs/proof.md), computed here from the very bytes.

/** @import { EntryBody } from "./openapi.js" */

/** @param {string} hex */
const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
/** @param {Uint8Array} bytes */
const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** @param {(string | Uint8Array<ArrayBuffer>)[]} parts */
async function sha256(...parts) {
  const joined = await new Blob(parts).arrayBuffer();
  return new Uint8Array(await crypto.subtle.digest("SHA-256", joined));
}

/** The head before the first entry, in hex. @param {string} game */
export const firstHead = async (game) => hexOf(await sha256("ledgerline/chain/1", game));

/**
 * Whether an entry, which was sent with its proof, follows from the head before it.
 * @param {string} head
 * @param {EntryBody} entry
 */
export async function followsFrom(head, entry) {
  if (!entry.proof) return false;
  const number = new Uint8Array(8);
  new DataView(number.buffer).setBigUint64(0, BigInt(entry.number));
  const proven = Uint8Array.from(atob(entry.proof.public), (letter) => letter.charCodeAt(0));
  const leaf = await sha256("ledgerline/leaf/1", proven);
  return hexOf(await sha256("ledgerline/head/1", number, bytesOf(head), leaf)) === entry.head;
}

// @ts-check
// The hash chain of a game (docs/reference/proof.md), computed here from the very bytes.

import { sha256 } from "./sha256.js";

/** @import { EntryBody } from "./openapi.js" */

const encoder = new TextEncoder();

/** @param {string} hex */
const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
/** @param {Uint8Array} bytes */
const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** @param {(string | Uint8Array)[]} parts */
function hashOf(...parts) {
  const bytes = parts.map((part) => (typeof part === "string" ? encoder.encode(part) : part));
  const joined = new Uint8Array(bytes.reduce((sum, each) => sum + each.length, 0));
  let end = 0;
  for (const each of bytes) {
    joined.set(each, end);
    end += each.length;
  }
  return sha256(joined);
}

/** The head before the first entry, in hex. @param {string} game */
export const firstHead = (game) => hexOf(hashOf("ledgerline/chain/1", game));

/**
 * Whether an entry, which was sent with its proof, follows from the head before it.
 * @param {string} head
 * @param {EntryBody} entry
 */
export function followsFrom(head, entry) {
  if (!entry.proof) return false;
  const number = new Uint8Array(8);
  new DataView(number.buffer).setBigUint64(0, BigInt(entry.number));
  const proven = Uint8Array.from(atob(entry.proof.public), (letter) => letter.charCodeAt(0));
  const leaf = hashOf("ledgerline/leaf/1", proven);
  return hexOf(hashOf("ledgerline/head/1", number, bytesOf(head), leaf)) === entry.head;
}

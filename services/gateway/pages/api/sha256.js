// @ts-check
// SHA-256 (FIPS 180-4): a page that came over plain http, in a LAN say, has no crypto.subtle.

/** The first 32 bits behind the point. @param {number} root of a prime */
const fraction = (root) => Math.floor((root % 1) * 2 ** 32);

/** @type {number[]} */
const PRIMES = [];
for (let number = 2; PRIMES.length < 64; number += 1)
  if (PRIMES.every((prime) => number % prime)) PRIMES.push(number);
const ROUNDS = PRIMES.map((prime) => fraction(Math.cbrt(prime)));
const START = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));

/** @param {number} word @param {number} bits */
const turned = (word, bits) => (word >>> bits) | (word << (32 - bits));

/** The blocks of a message: its bytes, a one, zeros, its length in bits. @param {Uint8Array} message */
function padded(message) {
  const blocks = new DataView(new ArrayBuffer(Math.ceil((message.length + 9) / 64) * 64));
  new Uint8Array(blocks.buffer).set(message);
  blocks.setUint8(message.length, 0x80);
  blocks.setBigUint64(blocks.byteLength - 8, BigInt(message.length) * 8n);
  return blocks;
}

/** The hash of a message, in 32 bytes. @param {Uint8Array} message */
export function sha256(message) {
  const [blocks, hash, words] = [padded(message), Uint32Array.from(START), new Uint32Array(64)];
  for (let start = 0; start < blocks.byteLength; start += 64) {
    for (let round = 0; round < 64; round += 1) {
      if (round < 16) words[round] = blocks.getUint32(start + 4 * round);
      else {
        const [early, late] = [words[round - 15], words[round - 2]];
        const mixed = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
        words[round] =
          words[round - 16] +
          mixed +
          words[round - 7] +
          (turned(late, 17) ^ turned(late, 19) ^ (late >>> 10));
      }
    }
    let [a, b, c, d, e, f, g, h] = hash;
    for (let round = 0; round < 64; round += 1) {
      const chosen = (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g));
      const first = (h + chosen + ROUNDS[round] + words[round]) | 0;
      const second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    for (const [place, word] of [a, b, c, d, e, f, g, h].entries()) hash[place] += word;
  }
  const bytes = new DataView(new ArrayBuffer(32));
  for (const [place, word] of hash.entries()) bytes.setUint32(4 * place, word);
  return new Uint8Array(bytes.buffer);
}

// @ts-check
// Small texts: numbers of things, seats, times.

/** A number of things: "1 card", "3 cards". @param {number} number @param {string} noun */
export const plural = (number, noun, many = `${noun}s`) => `${number} ${number === 1 ? noun : many}`;

/** @param {string} text */
export const upperFirst = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** A seat's letter, which stands with its colour everywhere. @param {number} seat */
export const seatLetter = (seat) => "ABCDEFGH"[seat];

/**
 * A seat's name, or its letter while nobody sits there.
 * @param {{ seat: number, name: string | null }} seat
 */
export const seatName = (seat) => seat.name ?? `Seat ${seatLetter(seat.seat)}`;

/**
 * A text with names in place of seats' numbers and letters: what is stored for ever names nobody.
 * @param {string} text
 * @param {{ seat: number, name: string | null }[]} seats
 */
export const withNames = (text, seats) =>
  text.replace(/\bseat ([0-7A-H])\b/g, (found, called) => {
    const seat = seats.find((each) => called === `${each.seat}` || called === seatLetter(each.seat));
    return seat ? seatName(seat) : found;
  });

/** How long ago something was, in words. @param {number} ms */
export function ago(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86400)} days ago`;
}

/**
 * The years of an age or a birthday that was typed; none of an empty text. A birthday itself is nobody's: it isn't sent.
 * @param {string} text
 */
export function yearsOf(text, today = new Date()) {
  const [year, month, day] = text.split("-").map(Number);
  if (!text || month === undefined) return text ? year : undefined;
  const isBefore = today.getMonth() + 1 < month || (today.getMonth() + 1 === month && today.getDate() < day);
  return today.getFullYear() - year - (isBefore ? 1 : 0);
}

/** @param {number} number */
const twoDigits = (number) => String(number).padStart(2, "0");

/** A time that is left: "4:31", "2:10 h", "3 days". @param {number} ms */
export function timeLeft(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  if (seconds < 3600) return `${Math.floor(seconds / 60)}:${twoDigits(seconds % 60)}`;
  if (seconds < 172800)
    return `${Math.floor(seconds / 3600)}:${twoDigits(Math.floor((seconds % 3600) / 60))} h`;
  return plural(Math.round(seconds / 86400), "day");
}

/** A time of the game clock: "04:31". @param {number} ms */
export const gameTime = (ms) =>
  `${twoDigits(Math.floor(ms / 60000))}:${twoDigits(Math.floor(ms / 1000) % 60)}`;

export const STATUS = { waiting: "waiting for players", playing: "being played", over: "over" };

// Small texts: cards, seats, times.

export const CARD_NAMES = {
  purple: "purple", white: "white", blue: "blue", yellow: "yellow", orange: "orange", red: "red",
  green: "green", black: "black", gray: "any one colour", locomotive: "locomotive",
  locomotive4: "+4 locomotive", passenger: "passenger",
};

export const cardName = (card) => CARD_NAMES[card] ?? card;

/** A number of things: "1 card", "3 cards". */
export const plural = (number, noun, many = `${noun}s`) => `${number} ${number === 1 ? noun : many}`;

export const upperFirst = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** A seat's name, or its letter while nobody sits there. */
export const seatName = (seat) => seat.name ?? `Seat ${"ABCDEFGH"[seat.seat]}`;

/** A text with names in place of seats' numbers: what is kept for ever names nobody. */
export const withNames = (text, seats) => text.replace(/\bseat ([0-7])\b/g, (said, seat) => (seats[Number(seat)] ? seatName(seats[Number(seat)]) : said));

/** How long ago something was, in words. */
export function ago(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86400)} days ago`;
}

/** A time that is left: "4:31", "2:10 h", "3 days". */
export function timeLeft(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  if (seconds < 3600) return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)}:${String(Math.floor((seconds % 3600) / 60)).padStart(2, "0")} h`;
  return plural(Math.round(seconds / 86400), "day");
}

/** A time of the game clock: "04:31". */
export const gameTime = (ms) =>
  `${String(Math.floor(ms / 60000)).padStart(2, "0")}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;

export const STATUS = { waiting: "waiting for players", playing: "being played", over: "over" };

export const CHOICES = {
  action: "takes a turn", "second card": "draws a second card", tickets: "chooses tickets",
  mix: "says which tickets it wants", tunnel: "pays for a tunnel or leaves it",
};

/** What a refused command is told: the reason first, then the rule. */
export const reason = (problem) => upperFirst(problem.message.replace(/^[a-z_.]+: /, "")) + (/[.!?]$/.test(problem.message) ? "" : ".");

// @ts-check
// The marks of a first game, in order: where each points, and what it says. Those of the train games are their own.

/** The first place of these that is seen, and the words. @typedef {readonly [places: string, words: string]} Mark */

const TURN = "[aria-labelledby='actions-title']";
const SEATS = "[aria-labelledby='seats-title']";
const MOVES = ".moves, .news, [aria-labelledby='moves-title']";
const RULES = ".rules-key";

/** @type {readonly Mark[]} */
export const ANY_GAME = [
  [".turn", "Whose turn it is always stands here."],
  [
    TURN,
    "All that you may do now is a button here. What isn't offered isn't allowed, so nothing can go wrong.",
  ],
  ["[aria-labelledby='own-title']", "This is yours. A card with a frame can be played: click it."],
  ["[aria-labelledby='table-title'], .drawing", "This lies on the table, for everybody to see."],
  [SEATS, "Who plays, what each has, and whose clock runs."],
  [MOVES, "What has happened, in words."],
  [RULES, "The rules are one key away at any time: R."],
];

/** @type {readonly Mark[]} */
export const TRAINS = [
  [
    ".offer, .tickets",
    "Your tickets: join the two cities of each by your own routes. A ticket that isn't made costs its points.",
  ],
  [".hand", "Your cards. A route is paid with as many cards of its colour as it has spaces."],
  [".market", "Cards lie open here. Take what your routes need; the deck gives you one unseen."],
  ["svg.board", "A route that you can pay for stands out on the board. Click it to claim it."],
  ["svg.board", "Gray routes take any one colour, and a locomotive stands for every colour."],
  [
    RULES,
    "Points by length: one long route is worth more than several short ones. R shows the table, and the rules.",
  ],
  [
    TURN,
    "All that you may do now is a button here. What isn't offered isn't allowed, so nothing can go wrong.",
  ],
  [".turn", "Whose turn it is always stands here."],
  [SEATS, "Watch the cars: when somebody has hardly any left, the last turns begin."],
  [MOVES, "What has happened, in words."],
];

// @ts-check
// The table of a game that brings no page: the parts that it describes, cards, numbers, texts. A card that legal commands name is a button for them.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { ACTIONS_MARK, MOVES_MARK, RULES, SEATS, TURN_MARK } from "../guide/page_marks.js";
import { colorMark, hasMark } from "../shared/card_marks.js";
import { when } from "../shared/frame.js";
import { plural, seatName, upperFirst } from "../shared/words.js";
import { actionsPanel, choiceButton, commandButton, mainButton } from "../table/actions_view.js";
import { choose } from "../table/choosing.js";
import { owner } from "../table/table_state.js";

/** @import { LegalCommand, PartState, PartsResult, PartsTable, SeatState } from "../api/openapi.js" */
/** @import { Drawing, Mark } from "../table/drawing.js" */
/** @import { TablePage } from "../table/table_state.js" */

const MOST_BUTTONS = 6; // commands of a type that are buttons at once; more are asked for in a dialog
/** @type {Record<string, string>} */
const SUITS = { clubs: "♣", diamonds: "♦", hearts: "♥", spades: "♠" };

/** A name as people write it: "clubs-7" is "clubs 7". @param {string} name */
const words = (name) => name.replaceAll(/[-_]/g, " ");

/** Compares words with numbers; made when it is needed, as a page's first one takes 8 ms. */
const byNumber = () => new Intl.Collator("en", { numeric: true }).compare;

/** Cards that lie by their names, so that 2 comes before 10; others stay as they lie. @param {string[]} cards */
const inOrder = (cards) => (cards.join() === cards.toSorted().join() ? cards.toSorted(byNumber()) : cards);

/** A card face up: its suit or colour, if it has one of these, and the rest of its name. @param {string} name */
function face(name) {
  const [kind, ...rest] = name.split("-");
  const sign =
    SUITS[kind] ??
    (hasMark(kind) ? html`<svg class="mark" viewBox="-6 -6 12 12">${colorMark(kind)}</svg>` : "");
  const text = sign === "" ? words(name) : rest.join(" ") || kind;
  return html`<span class="face s-${kind} ${hasMark(kind) ? `c-${kind}` : "plain"} ${text.length > 3 ? "long" : ""}"><span aria-hidden="true">${text}</span
    ><span class="sign" aria-hidden="true">${sign}</span><span class="unseen">${words(name)}</span></span>`;
}

/** Cards face down, as one pile. @param {number} count */
const pile = (count) =>
  html`<span class="face down"><span aria-hidden="true">${count}</span><span class="unseen">${plural(count, "card")} face down</span></span>`;

/** The offers that name a card. @param {PartsTable} latest @param {string} card */
const offersFor = ({ legal }, card) =>
  (legal ?? []).filter(({ command }) => Object.values(command).includes(card));

/**
 * Whether a card of this part is the one that commands name: of equal names the viewer's own, then one on the table.
 * @param {PartsTable} table
 * @param {PartState} part
 * @param {string} card
 */
function isMeant({ parts, viewer }, { seat }, card) {
  if (seat === viewer) return true;
  const seats = parts.filter(({ cards }) => cards?.includes(card)).map((part) => part.seat);
  return seats.every((each) => each !== viewer) && (seat === null || !seats.includes(null));
}

/**
 * A card, which is a button where something may be done with it.
 * @param {TablePage<PartsTable>} page
 * @param {PartState} part
 * @param {string} card
 */
function cardView({ latest, isBusy, replay }, part, card) {
  const offers = replay || !isMeant(latest, part, card) ? [] : offersFor(latest, card);
  if (!offers.length) return face(card);
  if (offers.length === 1) return commandButton(offers[0], isBusy, "bare", face(card));
  const title = upperFirst(words(card));
  const ask = () => choose({ title, question: "What do you do with it?", offers });
  return html`<button type="button" class="bare" ?disabled=${isBusy} aria-label="${title}: ${plural(offers.length, "way")}" @click=${ask}>${face(card)}</button>`;
}

/** @param {TablePage<PartsTable>} page @param {PartState} part */
function contentView(page, part) {
  const { cards, number, text } = part;
  const known = inOrder((cards ?? []).filter((card) => card !== null));
  const hidden = (cards?.length ?? 0) - known.length;
  const row = html`<ul class="faces">${known.map((card) => html`<li>${cardView(page, part, card)}</li>`)}${hidden ? html`<li>${pile(hidden)}</li>` : nothing}</ul>`;
  return html`${cards?.length ? row : nothing}${cards?.length === 0 ? html`<p class="empty">No cards.</p>` : nothing}
    ${number === null ? nothing : html`<p><b>${number}</b></p>`}${text === null ? nothing : html`<p>${text}</p>`}`;
}

/** Whether a part of a seat has a place of its own: some of its cards lie open. @param {PartState} part */
const isOpen = ({ cards }) => cards?.some((card) => card !== null) ?? false;

/** What a seat has besides the cards that lie open, in one line. @param {PartsTable} table @param {SeatState} state */
const seatFacts = ({ parts }, { seat }) =>
  parts
    .filter((part) => part.seat === seat && !isOpen(part))
    .map(({ name, cards, number, text }) => {
      const what = [cards && plural(cards.length, "card"), number, text].filter((each) => each !== null);
      return `${words(name)}: ${what.join(", ")}`;
    })
    .join(" · ");

/**
 * A panel of parts; one alone needs no heading within it, and its name is the panel's.
 * @param {TablePage<PartsTable>} page
 * @param {string} id
 * @param {string} title
 * @param {PartState[]} parts
 */
function panel(page, id, title, parts) {
  if (!parts.length) return nothing;
  const [first] = parts;
  const isAlone = parts.length === 1;
  return html`<section class="panel parts" aria-labelledby=${id}><h2 id=${id} tabindex="-1" aria-keyshortcuts=${id === "own-title" ? "h" : nothing}>${title} ${isAlone ? words(first.name) : "cards"}</h2>
    ${isAlone ? contentView(page, first) : parts.map((part) => html`<div class="part"><h3>${upperFirst(words(part.name))}</h3>${contentView(page, part)}</div>`)}</section>`;
}

/** The drawing that a game brings. @param {string} svg */
const picture = (svg) =>
  html`<img class="drawing" alt="The table, drawn" src="data:image/svg+xml,${encodeURIComponent(svg)}">`;

/** Whether a part lies open, or is nobody's. @param {PartState} part */
const isShown = (part) => part.seat === null || isOpen(part);

/** What lies on the table, then the cards of others that lie open. @param {TablePage<PartsTable>} page */
function partsView(page) {
  const { table } = page;
  const shown = table.parts.filter(isShown);
  /** @param {number | null} seat */
  const of = (seat) => shown.filter((part) => part.seat === seat);
  const others = table.seats.filter((seat) => seat.seat !== table.viewer);
  return html`<div class="felt" tabindex="0" role="group" aria-label="Table">${when(table.drawing, picture)}${panel(page, "table-title", "On the table:", of(null))}
    ${others.map((seat) => panel(page, `seat-${seat.seat}-title`, `${seatName(seat)}’s`, of(seat.seat)))}</div>`;
}

/** The viewer's own cards. @param {TablePage<PartsTable>} page */
function ownPartsView(page) {
  const { parts, viewer } = page.table;
  if (viewer === "public") return nothing;
  const own = parts.filter((part) => part.seat === viewer && isShown(part));
  return html`<div class="tray">${panel(page, "own-title", owner(page), own)}</div>`;
}

/**
 * What may be done, each by its sentence: of many commands of a type, in a dialog.
 * @param {TablePage<PartsTable>} page
 */
function partsActions(page) {
  const { latest, isBusy } = page;
  const compare = byNumber();
  const offers = (latest.legal ?? []).toSorted((a, b) => compare(a.text, b.text));
  /** @param {[string, LegalCommand[]]} group */
  const buttons = ([, group]) =>
    group.length > MOST_BUTTONS
      ? choiceButton(group, isBusy, upperFirst(group[0].title), "Which one?")
      : group.map((offer) => mainButton(offer, isBusy));
  const groups = [...Map.groupBy(offers, ({ command }) => command.type)];
  return actionsPanel(page, html`<div class="buttons">${groups.map(buttons)}</div>`);
}

/** @type {readonly Mark[]} */
const MARKS = [
  TURN_MARK,
  ACTIONS_MARK,
  ["[aria-labelledby='own-title']", "This is yours. A card with a frame can be played: click it."],
  ["[aria-labelledby='table-title'], .drawing", "This lies on the table, for everybody to see."],
  [SEATS, "Who plays, what each has, and whose clock runs."],
  MOVES_MARK,
  [RULES, "The rules are one key away at any time: R."],
];

/** @type {Drawing<PartsTable>} */
export const partsTable = {
  words: { drawer: "Table", choices: { action: "takes a turn" }, keys: { pass: "x" }, marks: MARKS },
  draws: (table) => "parts" in table,
  name: ({ ruleset_title }) => ruleset_title,
  layout: () => "in-parts",
  middle: (page) => (page.table.status === "waiting" ? nothing : partsView(page)),
  own: (page) => (page.table.status === "waiting" ? nothing : ownPartsView(page)),
  actions: partsActions,
  seatFacts,
  scoreParts: (row) =>
    Object.entries(/** @type {PartsResult} */ (row).parts).map(([name, points]) => [
      upperFirst(name.replaceAll("_", " ")),
      points,
    ]),
};

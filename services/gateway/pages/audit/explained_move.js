// One entry explained in words: what was asked, what was answered, by which rule, who knew and was shown what.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { cardName, plural, seatName, withNames } from "../shared/words.js";

const REFEREE = "referee";
const list = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`);

function viewerName(viewer, table) {
  if (viewer === REFEREE) return "the server";
  return viewer === "public" ? "everybody else" : seatName(table.seats[Number(viewer)]);
}

const cards = (counts) => Object.entries(counts).map(([card, count]) => `${count} ${cardName(card)}`).join(", ");

/** What a seat holds, as a viewer knew it. */
function holding(seat) {
  const known = Object.fromEntries(Object.entries(seat.hand).filter(([card, count]) => card !== "hidden" && count > 0));
  const hidden = seat.cards - Object.values(known).reduce((sum, count) => sum + count, 0);
  const hand = [cards(known), hidden > 0 && Object.keys(known).length ? `${hidden} face down` : ""].filter(Boolean).join(", ");
  return `${plural(seat.cards, "card")}${hand ? `: ${hand}` : ""}; ${plural(seat.tickets.length, "ticket")}${seat.offer.length ? `; is offered ${seat.offer.length}` : ""}`;
}

const marketText = ({ market }) => (market?.length ? market.map((card) => (card ? cardName(card) : "a gap")).join(", ") : "none");

function deckText({ deck, next }) {
  const known = (next ?? []).filter((card) => card !== null);
  return `${plural(deck ?? 0, "card")}${known.length ? `; next ${known.map(cardName).join(", ")}` : ""}`;
}

/** The texts of all viewers, those who share one together: "the same for all" where all do. */
function together(seen, table, text) {
  const groups = new Map();
  for (const [viewer, perspective] of Object.entries(seen)) {
    const words = text(perspective);
    groups.set(words, [...(groups.get(words) ?? []), viewerName(viewer, table)]);
  }
  if (groups.size === 1) return html`<dd>${[...groups.keys()][0]}${Object.keys(seen).length > 1 ? html` <span class="note">the same for all</span>` : nothing}</dd>`;
  return [...groups].map(([words, names]) => html`<dd><b>${list(names).replace(/^(the|everybody)/, (word) => (word === "the" ? "The" : "Everybody"))}:</b> ${words}</dd>`);
}

function knowledge(seen, table) {
  const first = Object.values(seen)[0];
  if (!first.before.market) return nothing;
  const row = (name, text) => html`<div><dt>${name}</dt>${together(seen, table, text)}</div>`;
  return html`<h3>What each knew before it</h3><dl class="knowledge">${row("The market", (each) => marketText(each.before))}${row("The deck", (each) => deckText(each.before))}
    ${first.before.seats.map((seat, place) => row(seatName(table.seats[place]), (each) => holding(each.before.seats[place])))}</dl>
    <h3>What each was shown of it</h3><dl class="knowledge"><div><dt class="unseen">Sentences</dt>${together(seen, table, (each) => withNames(each.sentences.join(" "), table.seats) || "nothing that needs a sentence")}</div></dl>`;
}

/** What it changed for the seats, by the server's own table. */
function changes(seen, table) {
  const { before, after } = seen[REFEREE] ?? Object.values(seen)[0];
  if (!before.seats || !after.seats) return nothing;
  const counts = (seat) => ({ points: seat.points, cars: seat.cars, cards: seat.cards, tickets: seat.tickets.length });
  const rows = after.seats.flatMap((seat, place) => {
    const [was, now] = [counts(before.seats[place]), counts(seat)];
    const changed = Object.keys(now).filter((name) => was[name] !== now[name]);
    return changed.length ? [`${seatName(table.seats[place])}: ${changed.map((name) => `${name} ${was[name]} → ${now[name]}`).join(", ")}`] : [];
  });
  return html`<h3>What it changed</h3>${rows.length ? html`<ul>${rows.map((row) => html`<li>${row}</li>`)}</ul>` : html`<p>Nothing that anybody holds.</p>`}`;
}

const verdictView = (move) => (move.accepted === undefined ? nothing : html`<p>${move.accepted ? html`<b>Accepted.</b>`
  : html`<b>Refused</b> by <a href="/rules/${move.refusal.rule}">${move.refusal.rule}</a>: ${move.refusal.why}.`}
  ${move.as_the_rules_say === false ? html`<span class="bad"><b>That isn't as the rules say.</b> ${move.doubt ?? ""}</span>`
    : move.as_the_rules_say ? html`<span class="good">Decided again by the same rules: the same verdict.</span>` : nothing}</p>`);

const ruleView = (rule) => html`<li><a href="/rules/${rule.rule}">${rule.rule}</a> ${rule.sentence}</li>`;

/** An entry, as an audit or the answer to a dispute has it. */
export function moveExplained(move, table) {
  if (move.unreadable) return html`<p class="bad">Entry ${move.number} can't be read: ${move.unreadable}.</p>`;
  return html`<div class="move">
    ${move.wish ? html`<p class="wish">Entry ${move.number}: ${withNames(move.speaker, table.seats)} wants to ${move.wish}.</p>` : html`<p class="wish">Entry ${move.number}</p>`}
    ${verdictView(move)}
    ${move.rules?.length ? html`<h3>The rules of such a command</h3><ul class="rules-cited">${move.rules.map(ruleView)}</ul>` : nothing}
    ${move.seen ? html`${knowledge(move.seen, table)}${changes(move.seen, table)}` : nothing}
    ${move.legal?.length ? html`<p>There ${move.legal.length === 1 ? "was one legal command" : `were ${move.legal.length} legal commands`} for ${withNames(move.speaker, table.seats)} to choose from.</p>` : nothing}
    <p><a href="/table/${table.game}#at=${move.number}">See the table after it</a></p></div>`;
}

// @ts-check
// One entry explained in words: what was asked, what was answered, by which rule, who knew and was shown what.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { when } from "../shared/frame.js";
import { plural, seatName, upperFirst, withNames } from "../shared/words.js";
import { boardLines, seatChanges } from "../trains/explained_board.js";

/** @import { CitedRule, ExplainedMove, ExplainedTable, PartState, Perspective } from "../api/openapi.js" */
/** @import { AnyTable } from "../table/table_state.js" */
/** @typedef {Record<string, Perspective>} Seen */

const REFEREE = "referee";

/** @param {string[]} names */
const list = (names) =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;

/** @param {string} viewer @param {AnyTable} table */
function viewerName(viewer, table) {
  if (viewer === REFEREE) return "the server";
  return viewer === "public" ? "everybody else" : seatName(table.seats[Number(viewer)]);
}

/**
 * The texts of all viewers, those who share one together: "the same for all" where all do.
 * @param {Seen} seen
 * @param {AnyTable} table
 * @param {(perspective: Perspective) => string} textOf
 */
function together(seen, table, textOf) {
  const groups = [...Map.groupBy(Object.entries(seen), ([, perspective]) => textOf(perspective))];
  if (groups.length === 1) {
    const shared = when(groups[0][1].length > 1, () => html` <span class="note">the same for all</span>`);
    return html`<dd>${groups[0][0]}${shared}</dd>`;
  }
  return groups.map(([text, viewers]) => {
    const names = list(viewers.map(([viewer]) => viewerName(viewer, table)));
    return html`<dd><b>${names.replace(/^(the|everybody)/, upperFirst)}:</b> ${text}</dd>`;
  });
}

/** What is in a part of a table, as a viewer knew it. @param {PartState} part */
function partText({ cards, number, text }) {
  const known = (cards ?? []).filter((card) => card !== null);
  const hidden = (cards?.length ?? 0) - known.length;
  const lying = [...known, ...(hidden && known.length ? [`${hidden} face down`] : [])].join(", ");
  const counted = cards && `${plural(cards.length, "card")}${lying ? `: ${lying}` : ""}`;
  return [counted, number, text].filter((each) => each !== null).join("; ");
}

/** @param {(string | null)[]} more @param {(string | null)[]} less */
function missing(more, less) {
  const left = [...less];
  return more
    .filter((card) => {
      const place = left.indexOf(card);
      if (place >= 0) left.splice(place, 1);
      return place < 0;
    })
    .map((card) => card ?? "one face down")
    .join(", ");
}

/** A part before and after: of cards their number, and which went and came. @param {PartState | undefined} was @param {PartState} now */
function partChange(was, now) {
  if (!was?.cards || !now.cards) return `${was ? partText(was) : "nothing"} → ${partText(now)}`;
  const [gone, added] = [missing(was.cards, now.cards), missing(now.cards, was.cards)];
  const moved = `${gone && `, without ${gone}`}${added && `, with ${added}`}`;
  return `${was.cards.length} → ${plural(now.cards.length, "card")}${moved}`;
}

/**
 * The parts of a table by whose they are and what the game calls them.
 * @param {ExplainedTable} shown
 * @param {AnyTable} table
 */
const partsByTitle = ({ parts }, { seats }) =>
  new Map(
    (parts ?? []).map((part) => [
      part.seat === null ? upperFirst(part.name) : `${seatName(seats[part.seat])}: ${part.name}`,
      part,
    ]),
  );

/**
 * What a viewer knew of a table, line by line: each with its title.
 * @param {ExplainedTable} shown
 * @param {AnyTable} table
 * @returns {[string, string][]}
 */
const linesOf = (shown, table) =>
  shown.parts
    ? [...partsByTitle(shown, table)].map(([title, part]) => [title, partText(part)])
    : boardLines(shown, table);

/**
 * What each viewer knew before an entry, and what it was shown of it.
 * @param {Seen} seen
 * @param {AnyTable} table
 */
function knowledge(seen, table) {
  const { before } = Object.values(seen)[0];
  const titles = linesOf(before, table).map(([title]) => title);
  if (!titles.length) return nothing;
  /** @param {Perspective} perspective @param {string} title */
  const textOf = (perspective, title) => new Map(linesOf(perspective.before, table)).get(title) ?? "";
  /** @param {string} title */
  const row = (title) =>
    html`<div><dt>${title}</dt>${together(seen, table, (each) => textOf(each, title))}</div>`;
  /** @param {Perspective} perspective */
  const sentences = (perspective) =>
    withNames(perspective.sentences.join(" "), table.seats) || "nothing that needs a sentence";
  return html`<h3>What each knew before it</h3><dl class="knowledge">${titles.map(row)}</dl>
    <h3>What each was shown of it</h3><dl class="knowledge"><div><dt class="unseen">Sentences</dt>${together(seen, table, sentences)}</div></dl>`;
}

/** @param {ExplainedTable} before @param {ExplainedTable} after @param {AnyTable} table */
function partChanges(before, after, table) {
  const was = partsByTitle(before, table);
  return [...partsByTitle(after, table)].flatMap(([title, part]) =>
    JSON.stringify(was.get(title)) === JSON.stringify(part)
      ? []
      : [`${title}: ${partChange(was.get(title), part)}`],
  );
}

/**
 * What an entry changed for the seats, by the server's own table.
 * @param {Seen} seen
 * @param {AnyTable} table
 */
function changes(seen, table) {
  const { before, after } = seen[REFEREE] ?? Object.values(seen)[0];
  const rows = before.parts ? partChanges(before, after, table) : seatChanges(before, after, table);
  if (!rows) return nothing;
  return html`<h3>What it changed</h3>${rows.length ? html`<ul>${rows.map((row) => html`<li>${row}</li>`)}</ul>` : html`<p>Nothing that anybody holds.</p>`}`;
}

/** @param {ExplainedMove} move */
function verdictView({ accepted, refusal, as_the_rules_say, doubt }) {
  if (accepted === undefined) return nothing;
  const verdict = refusal
    ? html`<b>Refused</b> by <a href="/rules/${refusal.rule}">${refusal.rule}</a>: ${refusal.why}.`
    : html`<b>Accepted.</b>`;
  return html`<p>${verdict}
  ${
    as_the_rules_say === false
      ? html`<span class="bad"><b>That isn't as the rules say.</b> ${doubt ?? ""}</span>`
      : when(
          as_the_rules_say,
          () => html`<span class="good">Decided again by the same rules: the same verdict.</span>`,
        )
  }</p>`;
}

/** @param {CitedRule} cited */
const ruleView = ({ rule, sentence }) => html`<li><a href="/rules/${rule}">${rule}</a> ${sentence}</li>`;

/**
 * An entry, as an audit or the answer to a dispute has it.
 * @param {ExplainedMove} move
 * @param {AnyTable} table
 */
export function moveExplained(move, table) {
  const { number, unreadable, wish, rules, seen, legal } = move;
  if (unreadable) return html`<p class="bad">Entry ${number} can't be read: ${unreadable}.</p>`;
  const speaker = withNames(move.speaker ?? "", table.seats);
  return html`<div class="move">
    <p class="wish">Entry ${number}${wish ? `: ${speaker} wants to ${wish}.` : ""}</p>
    ${verdictView(move)}
    ${when(rules?.length, () => html`<h3>The rules of such a command</h3><ul class="rules-cited">${rules?.map(ruleView)}</ul>`)}
    ${when(seen, (views) => html`${knowledge(views, table)}${changes(views, table)}`)}
    ${when(legal?.length, (count) => html`<p>There ${count === 1 ? "was one legal command" : `were ${count} legal commands`} for ${speaker} to choose from.</p>`)}
    <p><a href="/table/${table.game}#at=${number}">See the table after it</a></p></div>`;
}

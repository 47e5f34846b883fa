// @ts-check
// An audit in words: the verdict, the checks one by one, what is wrong, the doubts of one's seat.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { home, onSubmit, when } from "../shared/frame.js";
import { linkBanner } from "../shared/seat_link.js";
import { plural, seatName, STATUS, withNames } from "../shared/words.js";
import { chooseEntry, doubt, download, update } from "./audit_state.js";
import { moveExplained } from "./explained_move.js";

/** @import { AuditReport, Dispute, DisputeAnswer } from "../api/openapi.js" */
/** @import { AnyTable } from "../table/table_state.js" */
/** @import { AuditPage } from "./audit_state.js" */

const CHECKS = /** @type {const} */ ([
  ["chain", "The chain", "Nothing was changed, dropped, put in or moved since it was written."],
  ["signature", "The signature", "The server signed exactly this game."],
  ["deal", "The deal", "Seed, shuffles and every card that left a pile are those that were committed to."],
  ["view", "The views", "Every player was sent what it should see, and no more."],
  ["verdict", "The verdicts", "Every command was decided again, and got the verdict that the rules give."],
  ["fold", "The entries", "Every entry can be read and applied."],
]);
const SIGNS = { good: "✓", bad: "✗", open: "–" };

/** @typedef {{ name: string, result: keyof typeof SIGNS, text: string }} CheckLine */

/** @param {AnyTable} table */
const header = ({ game, seats, ruleset_title }) =>
  html`<header class="top">${home}
  <h1>Audit<span class="rules">${seats.map(seatName).join(", ")} · ${ruleset_title} rules</span></h1>
    <p class="turn"><a href="/table/${game}">To the table</a></p></header>`;

/** @param {CheckLine} line */
const checkView = ({ name, result, text }) =>
  html`<li class=${result}><span class="sign" aria-hidden="true">${SIGNS[result]}</span><b>${name}</b><span>${text}</span></li>`;

/** @param {AuditReport} audit @param {typeof CHECKS[number]} check @returns {CheckLine} */
function checkLine({ findings, checked, unchecked, deal }, [kind, name, good]) {
  const wrong = findings.filter((finding) => finding.kind === kind).length;
  if (wrong)
    return {
      name,
      result: "bad",
      text: `${wrong} ${wrong === 1 ? "thing is" : "things are"} wrong; see below.`,
    };
  if (checked.includes(kind))
    return { name, result: "good", text: kind === "deal" ? `${good} ${deal}` : good };
  const why = unchecked[kind] ?? "not part of this audit";
  return { name, result: "open", text: `Not checked: ${why}.`.replace("..", ".") };
}

/** What was checked in this browser. @param {AuditPage["chain"]} chain @returns {CheckLine} */
function ownCheck(chain) {
  const name = "In this browser";
  if (!chain) return { name, result: "open", text: "The chain is being checked here, too …" };
  if (chain.isBroken) {
    return {
      name,
      result: "bad",
      text: `Entry ${chain.number} doesn't follow from the one before: don't believe this server.`,
    };
  }
  return {
    name,
    result: "good",
    text: `The chain was checked here, too: all ${plural(chain.number, "entry", "entries")} follow from the one before.`,
  };
}

/** @param {AuditReport} audit */
const verdictView = ({ ok, verdict }) =>
  html`<p class="verdict ${ok ? "good" : "bad"}"><span aria-hidden="true">${ok ? "✓" : "✗"}</span> ${verdict}</p>`;

/** @param {AuditPage} page */
function checksView({ audit, table, chain }) {
  const own = checkView(ownCheck(chain));
  if (table.status !== "over") {
    return html`<section class="panel" aria-labelledby="checks-title"><h2 id="checks-title">What is checked</h2>
      <p>This game is ${STATUS[table.status]}. Everything is checked when it is over: then nothing of it is hidden any more. Until then your browser checks the chain, and you may doubt a move.</p>
      <ul class="checks">${own}</ul></section>`;
  }
  return html`${audit ? verdictView(audit) : html`<p class="verdict">The game is being checked …</p>`}
    <section class="panel" aria-labelledby="checks-title"><h2 id="checks-title">What was checked</h2>
    <ul class="checks">${when(audit, (report) => CHECKS.map((check) => checkView(checkLine(report, check))))}${own}</ul></section>`;
}

/** @param {AuditReport} audit */
const findingsView = ({ findings }) =>
  html`<section class="panel" aria-labelledby="wrong-title"><h2 id="wrong-title">What is wrong</h2>
  <ol class="findings">${findings.map(({ number, why }) => html`<li>${number === null ? "The game as a whole" : html`<a href="#at=${number}">Entry ${number}</a>`}: ${why}</li>`)}</ol>
  ${when(findings.length > 1, () => html`<p class="note">What stands after the first may follow from it.</p>`)}</section>`;

/**
 * The entries to choose from, each with its number and its words.
 * @param {AnyTable} table
 * @param {number | null} at
 */
function entryOptions({ moves, number }, at) {
  const words = new Map(moves.map((move) => [move.number, move.text.join(" ")]));
  const numbers = Array.from({ length: number }, (_, place) => place + 1);
  return html`<option value="">choose one</option>${numbers.map((each) => html`<option value=${each} ?selected=${each === at}>${each}: ${words.get(each) ?? "nothing that you were told of"}</option>`)}`;
}

/** @param {AuditPage} page */
function explainedView({ audit, table, at }) {
  /** @param {number} to @param {string} name @param {string} sign */
  const step = (to, name, sign) =>
    to >= 1 && to <= table.number
      ? html`<a class="button" href="#at=${to}" aria-label=${name}>${sign}</a>`
      : nothing;
  const note = at ? "Being looked up …" : "Choose an entry.";
  return html`<section class="panel explained" aria-labelledby="move-title"><h2 id="move-title">A move explained</h2>
    <form class="line-form" @submit=${onSubmit((field) => chooseEntry(field("at")))}><label>Entry <select name="at" required .value=${String(at ?? "")}>${entryOptions(table, at)}</select></label>
      <button class="primary">Explain</button>${when(at, (entry) => html`${step(entry - 1, "The entry before", "‹")}${step(entry + 1, "The entry after", "›")}`)}</form>
    ${audit?.move && audit.move.number === at ? moveExplained(audit.move, table) : html`<p class="note">${note}</p>`}</section>`;
}

/** Whether the rules agree, where the whole game could be asked. @param {DisputeAnswer} answer */
function agreement({ scope, as_the_rules_say, move }) {
  const agrees = as_the_rules_say ?? move?.as_the_rules_say;
  if (agrees === undefined || agrees === null || scope === "so far") return nothing;
  return agrees
    ? "The move that you doubted is as the rules say."
    : `The move that you doubted isn't as the rules say. ${move?.doubt ?? ""}`;
}

/** What came of a doubt. @param {DisputeAnswer} answer @param {boolean} isFinal @param {AnyTable} table */
const answerView = (answer, isFinal, table) =>
  html`<p><b>Answer to that:</b> ${withNames(answer.on_reason ?? "", table.seats)} ${answer.verdict} ${agreement(answer)}</p>
      ${when(answer.move, (move) => html`<details><summary>The move, explained</summary>${moveExplained(move, table)}</details>`)}
      ${isFinal ? nothing : html`<p class="note">This is what may be said while the game goes on. The whole answer follows when it is over.</p>`}`;

/** @param {Dispute} doubt @param {AnyTable} table */
const doubtView = ({ number, reason, answer, final }, table) =>
  html`<li class="doubt"><p>You doubted <b>entry ${number}</b>: <q>${reason}</q></p>
  ${answer ? answerView(answer, final, table) : html`<p class="note">${final ? "It could not be answered." : "It waits for its answer."}</p>`}</li>`;

/** @param {AuditPage} page */
const doubtsView = ({ table, doubts, at, isBusy }) =>
  html`<section class="panel" aria-labelledby="doubts-title"><h2 id="doubts-title">What you doubt</h2>
  ${doubts.length ? html`<ol class="doubts">${doubts.map((each) => doubtView(each, table))}</ol>` : html`<p class="empty">Nothing yet.</p>`}
  <form class="doubt-form" @submit=${onSubmit((field, form) => doubt(Number(field("number")), field("reason"), form))}>
    <label>Entry <select name="number" required .value=${String(at ?? "")}>${entryOptions(table, at)}</select></label>
    <label>What is wrong with it? <input name="reason" required maxlength="500" autocomplete="off"></label>
    <button class="primary" ?disabled=${isBusy}>Doubt this move</button></form></section>`;

/** @param {AuditPage} page */
const fileView = ({ isBusy, keys, table }) =>
  html`<section class="panel" aria-labelledby="file-title"><h2 id="file-title">The file</h2>
  <p>The whole game as one signed file. Anybody can check it without this server, with <a href="/verify_game.py" download>the verifier in one file of Python</a> and <a href="/v1/public-keys">this server's public key</a>:</p>
  ${keys.map(({ key }) => html`<p><code>python verify_game.py ${table.game}.ledgerline --key ${key}</code></p>`)}
  <p class="note">Ask somebody else for the key, too: who could change the file could change this page.</p>
  <p><button type="button" class="primary" ?disabled=${isBusy} @click=${download}>Download the file</button></p></section>`;

/** The whole page. @param {AuditPage} page */
export function auditPage(page) {
  const { table, audit, refusal, link, sits } = page;
  const isOver = table.status === "over";
  return html`${header(table)}
  ${when(link, (each) => linkBanner(table.game, each, () => update({ link: null })))}
  ${when(refusal, (why) => html`<p class="banner refusal">${why}</p>`)}
  <main id="main" class="audit">${checksView(page)}${audit?.findings.length ? findingsView(audit) : nothing}${isOver ? explainedView(page) : nothing}${sits ? doubtsView(page) : nothing}${isOver ? fileView(page) : nothing}</main>`;
}

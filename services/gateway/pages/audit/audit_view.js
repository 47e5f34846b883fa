// An audit in words: the verdict, the checks one by one, what is wrong, the doubts of one's seat.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { moveExplained } from "./explained_move.js";
import { plural, seatName, STATUS } from "../shared/words.js";

const CHECKS = [
  ["chain", "The chain", "Nothing was changed, dropped, put in or moved since it was written."],
  ["signature", "The signature", "The server signed exactly this game."],
  ["deal", "The deal", "Seed, shuffles and every card that left a pile are those that were committed to."],
  ["view", "The views", "Every player was sent what it should see, and no more."],
  ["verdict", "The verdicts", "Every command was decided again, and got the verdict that the rules give."],
  ["fold", "The entries", "Every entry can be read and applied."],
];
const SIGNS = { good: "✓", bad: "✗", open: "–" };

/** The head of the page. */
export const top = (table) => html`<header class="top"><a class="home" href="/"><img src="/assets/shared/favicon.svg" alt="" width="28" height="28">Ledgerline</a>
  ${table ? html`<h1>Audit<span class="rules">${table.seats.map(seatName).join(", ")} · ${table.ruleset} rules</span></h1>
    <p class="turn"><a href="/table/${table.game}">To the table</a></p>` : nothing}</header>`;

const line = ([name, kind, text]) => html`<li class=${kind}><span class="sign" aria-hidden="true">${SIGNS[kind]}</span><b>${name}</b><span>${text}</span></li>`;

function checkLine({ findings, checked, unchecked }, [kind, name, good]) {
  const wrong = findings.filter((finding) => finding.kind === kind).length;
  if (wrong) return [name, "bad", `${wrong} ${wrong === 1 ? "thing is" : "things are"} wrong; see below.`];
  return checked.includes(kind) ? [name, "good", good] : [name, "open", `Not checked: ${unchecked[kind] ?? "not part of this audit"}.`.replace("..", ".")];
}

const ownCheck = ({ chain }) => (!chain ? ["In this browser", "open", "The chain is being checked here, too …"]
  : chain.broken ? ["In this browser", "bad", `Entry ${chain.number} doesn't follow from the one before: don't believe this server.`]
    : ["In this browser", "good", `The chain was checked here, too: all ${plural(chain.number, "entry", "entries")} follow from the one before.`]);

function checks(page) {
  const { audit, table } = page;
  if (table.status !== "over") {
    return html`<section class="panel" aria-labelledby="checks-title"><h2 id="checks-title">What is checked</h2>
      <p>This game is ${STATUS[table.status]}. Everything is checked when it is over: then nothing of it is hidden any more. Until then your browser checks the chain, and you may doubt a move.</p>
      <ul class="checks">${line(ownCheck(page))}</ul></section>`;
  }
  return html`${audit ? html`<p class="verdict ${audit.ok ? "good" : "bad"}"><span aria-hidden="true">${audit.ok ? "✓" : "✗"}</span> ${audit.verdict}</p>`
    : html`<p class="verdict">The game is being checked …</p>`}
    <section class="panel" aria-labelledby="checks-title"><h2 id="checks-title">What was checked</h2>
    <ul class="checks">${audit ? CHECKS.map((check) => line(checkLine(audit, check))) : nothing}${line(ownCheck(page))}</ul></section>`;
}

const findings = ({ audit }) => (!audit?.findings.length ? nothing : html`<section class="panel" aria-labelledby="wrong-title"><h2 id="wrong-title">What is wrong</h2>
  <ol class="findings">${audit.findings.map((finding) => html`<li>${finding.number === null ? "The game as a whole" : html`<a href="#at=${finding.number}">Entry ${finding.number}</a>`}: ${finding.why}</li>`)}</ol>
  ${audit.findings.length > 1 ? html`<p class="note">What stands after the first may follow from it.</p>` : nothing}</section>`);

function explained(page) {
  const { audit, table, at } = page;
  if (table.status !== "over") return nothing;
  const step = (to, name, text) => (to >= 1 && to <= table.number ? html`<a class="button" href="#at=${to}" aria-label=${name}>${text}</a>` : nothing);
  return html`<section class="panel explained" aria-labelledby="move-title"><h2 id="move-title">A move explained</h2>
    <form class="line-form" @submit=${(event) => page.choose(event)}><label>Entry <input name="at" type="number" required min="1" max=${table.number} .value=${String(at ?? "")}></label>
      <button class="primary">Explain</button>${at ? html`${step(at - 1, "The entry before", "‹")}${step(at + 1, "The entry after", "›")}` : nothing}</form>
    ${audit?.move?.number === at && at ? moveExplained(audit.move, table) : at ? html`<p class="note">Being looked up …</p>` : html`<p class="note">Say which entry; the moves of the table have their numbers.</p>`}</section>`;
}

/** A doubt: what was doubted and why, and what came of it. */
const doubtView = (doubt, table) => html`<li class="doubt"><p>You doubted <b>entry ${doubt.number}</b>: <q>${doubt.reason}</q></p>
  ${doubt.answer ? html`<p><b>Answer to that:</b> ${doubt.answer.verdict} ${rulesSay(doubt)}</p>
      ${doubt.answer.move ? html`<details><summary>The move, explained</summary>${moveExplained(doubt.answer.move, table)}</details>` : nothing}
      ${doubt.final ? nothing : html`<p class="note">This is what may be said while the game goes on. The whole answer follows when it is over.</p>`}`
    : html`<p class="note">${doubt.final ? "It could not be answered." : "It waits for its answer."}</p>`}</li>`;

function rulesSay({ answer }) {
  const agrees = answer.as_the_rules_say ?? answer.move?.as_the_rules_say;
  if (agrees === undefined || agrees === null || answer.scope === "so far") return nothing;
  return agrees ? "The move that you doubted is as the rules say." : `The move that you doubted isn't as the rules say. ${answer.move?.doubt ?? ""}`;
}

const doubts = (page) => (!page.sits ? nothing : html`<section class="panel" aria-labelledby="doubts-title"><h2 id="doubts-title">What you doubt</h2>
  ${page.doubts.length ? html`<ol class="doubts">${page.doubts.map((doubt) => doubtView(doubt, page.table))}</ol>` : html`<p class="empty">Nothing yet.</p>`}
  <form class="doubt-form" @submit=${(event) => page.doubt(event)}>
    <label>Entry <input name="number" type="number" required min="1" max=${page.table.number} .value=${String(page.at ?? "")}></label>
    <label>What is wrong with it? <input name="reason" required maxlength="500" autocomplete="off"></label>
    <button class="primary" ?disabled=${page.busy}>Doubt this move</button></form></section>`);

const file = (page) => (page.table.status !== "over" ? nothing : html`<section class="panel" aria-labelledby="file-title"><h2 id="file-title">The file</h2>
  <p>The whole game as one signed file. Anybody can check it without this server: <code>ledgerline audit FILE</code>, or the verifier of one file.</p>
  <p><button type="button" class="primary" ?disabled=${page.busy} @click=${() => page.download()}>Download the file</button></p></section>`);

/** The whole page. */
export const auditPage = (page) => html`${top(page.table)}
  ${page.refusal ? html`<p class="banner refusal">${page.refusal}</p>` : nothing}
  <main id="main" class="audit">${checks(page)}${findings(page)}${explained(page)}${doubts(page)}${file(page)}</main>`;

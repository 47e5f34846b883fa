// @ts-check
// The operator's page in words and tables. Commands that are dead letters, tokens and addresses of webhooks aren't sent to it.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { home, onSubmit } from "../shared/frame.js";

/** @typedef {Record<string, any>} Row */
/** @typedef {Row[] | { error: string }} Rows */
/**
 * @typedef {object} Overview
 * @property {Row} system
 * @property {Rows} games
 * @property {Rows} dead_letters
 * @property {Rows} disputes
 * @property {Rows} jobs
 * @property {Rows} webhooks
 * @property {Record<string, number>} limits
 * @property {{ status: string, problems: string[] }} ready
 */
/**
 * @typedef {object} OperatorPage
 * @property {string} key
 * @property {Overview | null} overview
 * @property {string} failure
 * @property {string} done what the last button did
 * @property {{ game: string, entries: Row[] } | null} entries
 * @property {string} deadAfter the dead letter that those shown follow
 * @property {(key: string) => unknown} enter
 * @property {(action: string, name: string, reason?: string) => unknown} act
 * @property {(game: string) => unknown} look
 * @property {(letter: string) => unknown} turn to the dead letters that follow
 */

const SHOWN_ENTRIES = 50;
const SHOWN_LETTERS = 50; // of a page, by operator_reads.py

/** How long something is there, in the largest unit that fits. @param {number | null} seconds */
function age(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}

/**
 * A part as a table, or why there is none.
 * @param {string} title
 * @param {Rows} rows
 * @param {Record<string, (row: Row) => unknown>} columns
 * @param {string} empty
 */
function part(title, rows, columns, empty) {
  const id = title.toLowerCase().replaceAll(" ", "-");
  if (!Array.isArray(rows)) return section(id, title, html`<p class="note">${rows.error}</p>`);
  if (!rows.length) return section(id, title, html`<p class="empty">${empty}</p>`);
  const names = Object.keys(columns);
  return section(
    id,
    `${title} (${rows.length})`,
    html`<div class="scroll" tabindex="0" role="region" aria-labelledby=${id}><table>
    <thead><tr>${names.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${names.map((name) => html`<td>${columns[name](row)}</td>`)}</tr>`)}</tbody>
  </table></div>`,
  );
}

/** @param {string} id @param {string} title @param {unknown} content */
const section = (id, title, content) =>
  html`<section class="panel"><h2 id=${id}>${title}</h2>${content}</section>`;

/** @param {OperatorPage} page @param {string} action @param {string} word @param {(row: Row) => string} nameOf */
const button = (page, action, word, nameOf) => (/** @type {Row} */ row) =>
  html`<button type="button" @click=${() => page.act(action, nameOf(row))} aria-label="${word} ${nameOf(row)}">${word}</button>`;

/** @param {Row} row */
const gameLink = ({ game }) => (game ? html`<a href="/audit/${game}">${game}</a>` : "unreadable");

/** @param {Overview} overview */
function healthView({ ready, system }) {
  const problems = [...new Set([...ready.problems, ...(system.problems ?? [])])];
  const isGood = ready.status === "ok" && !problems.length;
  return html`<p class="verdict ${isGood ? "good" : "bad"}">${isGood ? "All is well." : `This gateway is ${ready.status}.`}</p>
    ${problems.length ? html`<ul class="problems">${problems.map((each) => html`<li>${each}</li>`)}</ul>` : nothing}
    ${(system.notices ?? []).map((/** @type {string} */ each) => html`<p class="note">${each}</p>`)}`;
}

/** @param {number} bytes */
const mib = (bytes) => `${Math.round(bytes / 1_048_576).toLocaleString("en")} MiB`;

/** @param {Overview} overview */
function systemViews({ system, limits }) {
  if (system.error) return section("system", "System", html`<p class="note">${system.error}</p>`);
  const waiting = system.partitions.filter(
    (/** @type {Row} */ row) => row.commands || row.bot_tasks || row.dead_letters,
  );
  return html`${part(
    "Services",
    system.services,
    {
      service: (row) => row.name,
      "last sign": (row) => `${row.last_sign_s} s ago`,
      partitions: (row) => row.partitions?.length ?? "",
    },
    "No service gives a sign.",
  )}${part(
    "Engine",
    system.engine,
    {
      node: (row) => `${row.product} ${row.address}`.trim(),
      role: (row) => row.role,
      AOF: (row) => (row.is_aof_well ? row.aof : `${row.aof}, fails`),
      memory: (row) => `${mib(row.used_bytes)}${row.max_bytes ? ` of ${mib(row.max_bytes)}` : ", no limit"}`,
    },
    "No node answers.",
  )}${part(
    "Backlog",
    waiting,
    {
      partition: (row) => row.partition,
      commands: (row) => row.commands,
      oldest: (row) => age(row.oldest_command_ms === null ? null : row.oldest_command_ms / 1000),
      "bot tasks": (row) => row.bot_tasks,
      "dead letters": (row) => row.dead_letters,
    },
    `Nothing waits in ${system.partitions.length} partitions.`,
  )}${part(
    "Limits hit",
    Object.entries(limits).map(([limit, count]) => ({ limit, count })),
    { limit: (row) => row.limit, times: (row) => row.count },
    "Nobody was refused by a limit since this gateway started.",
  )}`;
}

/** @param {OperatorPage} page @param {Overview} overview */
function gamesView(page, { games }) {
  return part(
    "Games",
    games,
    {
      game: gameLink,
      state: (row) => row.state,
      age: (row) => age(row.age_s),
      "last entry": (row) =>
        row.idle_s === null || row.idle_s === undefined ? "" : `${age(row.idle_s)} ago`,
      entries: (row) => row.entries ?? row.why,
      look: (row) =>
        html`<button type="button" @click=${() => page.look(row.game)} aria-label="Entries of ${row.game}">Entries</button>`,
    },
    "There are no games.",
  );
}

/** The last entries of the game that was looked at. @param {OperatorPage} page */
function entriesView(page) {
  if (!page.entries) return nothing;
  const { game, entries } = page.entries;
  return html`${part(
    `Entries of ${game}`,
    entries.slice(-SHOWN_ENTRIES).toReversed(),
    {
      number: (row) => row.number,
      "as the public sees it": (row) => html`<code>${JSON.stringify(row.events)}</code>`,
    },
    "It has no entries.",
  )}<form class="panel dispute" @submit=${onSubmit((field, form) => {
    page.act("dispute", `${game}:${field("number")}`, field("reason"));
    form.reset();
  })}><h2>Dispute an entry of ${game}</h2>
    <label>Entry <input name="number" type="number" min="1" max=${entries.at(-1)?.number ?? 1} required></label>
    <label>Reason <input name="reason" maxlength="500" required></label><button>Dispute it</button></form>`;
}

/** To the pages of the dead letters. @param {OperatorPage} page @param {Rows} rows */
function turning(page, rows) {
  const last = Array.isArray(rows) && rows.length >= SHOWN_LETTERS ? rows.at(-1)?.letter : "";
  const to = (/** @type {string} */ letter, /** @type {string} */ word) =>
    html`<button type="button" @click=${() => page.turn(letter)}>${word}</button>`;
  return html`${page.deadAfter ? to("", "First dead letters") : nothing}${last ? to(last, "Next dead letters") : nothing}`;
}

/** @param {OperatorPage} page @param {Overview} overview */
function waitingViews(page, { dead_letters, disputes, jobs, webhooks }) {
  return html`${part(
    "Dead letters",
    dead_letters,
    {
      letter: (row) => row.letter,
      game: gameLink,
      seat: (row) => row.seat ?? "system",
      command: (row) => row.command ?? "",
      error: (row) => row.error,
      retry: button(page, "retry dead letter", "Retry", (row) => row.letter),
      drop: button(page, "drop dead letter", "Drop", (row) => row.letter),
    },
    page.deadAfter ? "None follow." : "No command has broken a referee.",
  )}${turning(page, dead_letters)}${part(
    "Disputes",
    disputes,
    {
      game: gameLink,
      entry: (row) => row.number,
      who: (row) => (row.seat === null ? "operator" : `seat ${row.seat}`),
      since: (row) => row.since.slice(0, 16).replace("T", " "),
      state: (row) => row.state,
      reason: (row) => row.reason,
    },
    "Nobody disputes a move.",
  )}${part(
    "Jobs",
    jobs,
    {
      job: (row) => row.id,
      state: (row) => row.state,
      tries: (row) => row.tries,
      why: (row) => row.why,
      retry: button(page, "retry job", "Retry", (row) => row.id),
      drop: button(page, "drop job", "Drop", (row) => row.id),
    },
    "No jobs: everything is done.",
  )}${part(
    "Webhooks",
    webhooks,
    {
      game: gameLink,
      seat: (row) => row.seat,
      state: (row) => (row.failed ? "couldn't be notified" : "well"),
    },
    "No seat is notified of its turns.",
  )}`;
}

/** @param {OperatorPage} page */
const keyForm = (page) =>
  html`<main id="main" class="alone"><h1>Operator</h1>
  ${page.failure ? html`<p class="refused" role="alert">${page.failure}</p>` : nothing}
  <form class="key" @submit=${onSubmit((field) => page.enter(field("key")))}>
    <label>The operator's key <input name="key" type="password" autocomplete="off" required></label>
    <button class="primary">Open</button></form>
  <p class="note">It is LEDGERLINE_OPERATOR_KEY of this server. This page forgets it when you leave.</p></main>`;

/** @param {OperatorPage} page */
export function operatorPage(page) {
  const header = html`<header class="top">${home}<h1>Operator</h1></header>`;
  if (!page.overview) return html`<header class="top">${home}</header>${keyForm(page)}`;
  return html`${header}
    ${page.failure ? html`<p class="banner away">${page.failure}</p>` : nothing}
    ${page.done ? html`<p class="banner">${page.done}</p>` : nothing}
    <main id="main" class="operator">${healthView(page.overview)}
    ${systemViews(page.overview)}${waitingViews(page, page.overview)}${gamesView(page, page.overview)}${entriesView(page)}</main>`;
}

// @ts-check
// The operator's page: the whole system, read again every few seconds, with the buttons for what waits for a person.
// The key stays in this page's memory alone: who leaves the page gives it again.
import { render } from "../vendor/lit-html/lit-html.js";
import { ask, Problem } from "../api/api.js";
import { reasonOf, root, say } from "../shared/frame.js";
import { operatorPage } from "./operator_view.js";

/** @import { OperatorPage, Overview } from "./operator_view.js" */

const AGAIN_MS = 3000;

/** @type {OperatorPage} */
const page = {
  key: "",
  overview: null,
  failure: "",
  done: "",
  entries: null,
  deadAfter: "",
  enter,
  act,
  look,
  turn,
};

/** Ask as the operator. Throws Problem, or TypeError. @param {object} [body] @returns {Promise<any>} */
async function askOperator(body) {
  const query = body ? "" : `?dead_after=${encodeURIComponent(page.deadAfter)}`;
  const reply = await fetch(`/v1/operator${query}`, {
    method: body ? "POST" : "GET",
    headers: {
      Authorization: `Bearer ${page.key}`,
      Accept: "application/json",
      "Content-Type": "application/json",
    },
    body: body && JSON.stringify(body),
  });
  const answer = await reply.json().catch(() => ({ title: `The server answered ${reply.status}.` }));
  if (!reply.ok) throw new Problem(answer, reply.status);
  return answer;
}

const show = () => render(operatorPage(page), root);

async function refresh() {
  try {
    page.overview = /** @type {Overview} */ (await askOperator());
    page.failure = "";
  } catch (error) {
    page.failure = reasonOf(error);
    if (error instanceof Problem && [401, 403].includes(error.status))
      Object.assign(page, { key: "", overview: null });
  }
  show();
}

/** Open the page with this key. @param {string} key */
async function enter(key) {
  page.key = key;
  await refresh();
  say(page.failure || "The system is shown.");
}

/** Show the dead letters that follow this one; the first ones after "". @param {string} letter */
async function turn(letter) {
  page.deadAfter = letter;
  await refresh();
}

/** Do what a button says. @param {string} action @param {string} name @param {string} [reason] */
async function act(action, name, reason = "") {
  try {
    page.done = (await askOperator({ action, name, reason })).done;
  } catch (error) {
    page.done = reasonOf(error);
  }
  say(page.done);
  await refresh();
}

/** Show the last entries of a game, as the public sees them. @param {string} game */
async function look(game) {
  try {
    const path = { game };
    /** @type {any[]} */
    const entries = [];
    for (let more = true; more;) {
      const query = { after: String(entries.at(-1)?.number ?? 0) };
      const read = await ask("GET /games/{game}/view", { path, query, token: page.key });
      entries.push(...read.entries);
      ({ more } = read);
    }
    page.entries = { game, entries };
  } catch (error) {
    page.done = reasonOf(error);
  }
  show();
}

show();
setInterval(() => {
  if (page.key && !document.hidden) void refresh();
}, AGAIN_MS);

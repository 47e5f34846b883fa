// @ts-check
// The rules and the points table of a game, one key away at any time on its table.
import { html, nothing, render } from "../vendor/lit-html/lit-html.js";
import { ask } from "../api/api.js";
import { onChecked, when } from "../shared/frame.js";
import { plural } from "../shared/words.js";

/** @import { AnyTable } from "../table/table_state.js" */
/** What a game's points are by. @typedef {{ route_points?: (number | null)[], [option: string]: unknown }} Parameters */

const KEY = "r";
const HAS_KEY = "ledgerline.rules_key"; // in this browser: "off" where the key does nothing
/** @type {[string, string][]} */
const BONUSES = [
  ["longest_bonus", "the longest trail"],
  ["most_tickets_bonus", "most tickets made"],
  ["station_points", "each station not built"],
];

const place = document.createElement("div");
/** @type {AnyTable | undefined} */
let table;
/** @type {{ parameters: Parameters, pages: Element[] } | undefined} */
let read;

/** Have a key and a button open the rules of this table from now on. @param {AnyTable} shown */
export function offerRules(shown) {
  table = shown;
  if (place.isConnected) return;
  document.body.append(place);
  addEventListener("keydown", openByKey);
}

/** @param {KeyboardEvent} event */
function openByKey(event) {
  const { target, key, ctrlKey, altKey, metaKey } = event;
  const isTyping =
    target instanceof Element && target.matches("input:not([type=checkbox], [type=range]), select, textarea");
  if (key.toLowerCase() !== KEY || ctrlKey || altKey || metaKey || isTyping) return;
  if (localStorage.getItem(HAS_KEY) === "off" || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  openRules();
}

/** Show the rules of the table. */
export async function openRules() {
  draw();
  place.querySelector("dialog")?.showModal();
  read ??= await readRules().catch(() => undefined);
  draw();
}

const closeRules = () => place.querySelector("dialog")?.close();

/** The numbers that this game is played by, and the page of its rules. */
async function readRules() {
  const { game, ruleset } = /** @type {AnyTable} */ (table);
  const [view, page] = await Promise.all([
    ask("GET /games/{game}/view", { path: { game }, query: { most: "1" } }),
    fetch(`/rules/${ruleset}`, { headers: { Accept: "text/html" } }),
  ]);
  const events = /** @type {{ type: string, parameters?: Parameters }[]} */ (view.entries[0]?.events ?? []);
  const parameters = events.find(({ type }) => type === "game_created")?.parameters ?? {};
  if (!page.ok) return { parameters, pages: [] };
  const parsed = new DOMParser().parseFromString(await page.text(), "text/html");
  const pages = [...(parsed.querySelector("main") ?? parsed.body).children].filter(
    (each) => each.tagName !== "NAV",
  );
  for (const link of parsed.querySelectorAll("a")) link.target = "_blank"; // the table stays open
  return { parameters, pages: pages.map((each) => document.importNode(each, true)) };
}

/** @param {Parameters} parameters */
function pointsTable(parameters) {
  const lengths = (parameters.route_points ?? []).flatMap((points, shorter) =>
    points === null ? [] : [[shorter + 1, points]],
  );
  if (!lengths.length) return nothing;
  const bonuses = BONUSES.filter(([option]) => parameters[option]);
  return html`<div class="scroll points-table" tabindex="0" role="group" aria-label="Points by length"><table><thead><tr><th scope="row">Spaces</th>${lengths.map(([length]) => html`<th scope="col">${length}</th>`)}</tr></thead>
    <tbody><tr><th scope="row">Points</th>${lengths.map(([, points]) => html`<td>${points}</td>`)}</tr></tbody></table></div>
    ${bonuses.map(([option, what]) => html`<p class="note">${plural(Number(parameters[option]), "point")} for ${what}</p>`)}`;
}

function draw() {
  const isKey = localStorage.getItem(HAS_KEY) !== "off";
  render(
    html`<dialog class="rules-dialog" aria-labelledby="rules-title" @click=${(/** @type {{ target: Element }} */ { target }) => target.matches("dialog") && closeRules()}>
    <div class="inside"><header><h2 id="rules-title">Points and rules</h2><button type="button" class="quiet" @click=${closeRules}>Close</button></header>
    ${when(read, ({ parameters }) => pointsTable(parameters))}
    <label class="note"><input type="checkbox" .checked=${isKey} @change=${onChecked((on) => localStorage.setItem(HAS_KEY, on ? "on" : "off"))}> The key R opens this.</label>
    ${read ? html`<div class="rules-text">${read.pages.length ? read.pages : "This game brings no page of its rules."}</div>` : html`<p class="note">Loading …</p>`}</div></dialog>`,
    place,
  );
}

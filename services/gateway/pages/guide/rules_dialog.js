// @ts-check
// The rules and the points table of a game, one key away at any time on its table.
import { html, nothing, render } from "../vendor/lit-html/lit-html.js";
import { ask } from "../api/api.js";
import { onChecked, when } from "../shared/frame.js";

/** @import { TablePage } from "../table/table_state.js" */
/** What a game's points are by. @typedef {Record<string, unknown>} Parameters */

const KEY = "r";
const HAS_KEY = "ledgerline.rules_key"; // in this browser: "off" where the key does nothing
const place = document.createElement("div");
/** @type {TablePage | undefined} */
let page;
/** @type {{ parameters: Parameters, pages: Element[] } | undefined} */
let read;

/** Have a key and a button open the rules of this table from now on. @param {TablePage} shown */
export function offerRules(shown) {
  page = shown;
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
  const { game, ruleset } = /** @type {TablePage} */ (page).table;
  const [view, answer] = await Promise.all([
    ask("GET /games/{game}/view", { path: { game }, query: { most: "1" } }),
    fetch(`/rules/${ruleset}`, { headers: { Accept: "text/html" } }),
  ]);
  const events = /** @type {{ type: string, parameters?: Parameters }[]} */ (view.entries[0]?.events ?? []);
  const parameters = events.find(({ type }) => type === "game_created")?.parameters ?? {};
  if (!answer.ok) return { parameters, pages: [] };
  const parsed = new DOMParser().parseFromString(await answer.text(), "text/html");
  const pages = [...(parsed.querySelector("main") ?? parsed.body).children].filter(
    (each) => each.tagName !== "NAV",
  );
  for (const link of parsed.querySelectorAll("a")) link.target = "_blank"; // the table stays open
  return { parameters, pages: pages.map((each) => document.importNode(each, true)) };
}

function draw() {
  const isKey = localStorage.getItem(HAS_KEY) !== "off";
  render(
    html`<dialog class="rules-dialog" aria-labelledby="rules-title" @click=${(/** @type {{ target: Element }} */ { target }) => target.matches("dialog") && closeRules()}>
    <div class="inside"><header><h2 id="rules-title">Points and rules</h2><button type="button" class="quiet" @click=${closeRules}>Close</button></header>
    ${when(read, ({ parameters }) => page?.drawing.pointsTable?.(parameters) ?? nothing)}
    <label class="note"><input type="checkbox" .checked=${isKey} @change=${onChecked((on) => localStorage.setItem(HAS_KEY, on ? "on" : "off"))}> The key R opens this.</label>
    ${read ? html`<div class="rules-text">${read.pages.length ? read.pages : "This game brings no page of its rules."}</div>` : html`<p class="note">Loading …</p>`}</div></dialog>`,
    place,
  );
}

// @ts-check
// What every page has: its root, the words for screen readers, the way home, and what templates are put together with.
import { html, nothing, render } from "../vendor/lit-html/lit-html.js";
import { Problem } from "../api/api.js";
import { seatLetter, upperFirst } from "./words.js";

/** @param {string} id */
const elementOf = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

export const root = elementOf("page");
root.replaceChildren(); // the word that it is loading

/** Have a text read out. @param {string} text */
export function say(text) {
  elementOf("live").textContent = text;
}

/** The way to the lobby. */
export const home = html`<a class="home" href="/"><img src="/assets/shared/favicon.svg" alt="" width="28" height="28">Ledgerline</a>`;

/**
 * What a person is told of an error: the reason first, then the rule; or that the server is away.
 * @param {unknown} error
 */
export function reasonOf(error, away = "The server can't be reached now. Try again.") {
  if (!(error instanceof Problem)) return away;
  const text = upperFirst(error.message.replace(/^[a-z_.]+: /, ""));
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Show that there is no page, and why. @param {string} title @param {unknown} error */
export function showFailure(title, error) {
  const why = reasonOf(error, "The server can't be reached.");
  render(
    html`<header class="top">${home}</header><main id="main" class="alone"><h1>${title}</h1><p>${why}</p><p><a href="/">To the lobby</a></p></main>`,
    root,
  );
}

/**
 * A part of a template, where there is something to show.
 * @template T
 * @param {T} value
 * @param {(value: NonNullable<T>) => unknown} view
 */
export const when = (value, view) => (value ? view(value) : nothing);

/** A seat's colour with its letter. @param {number} seat */
export const seatBadge = (seat) =>
  html`<span class="badge s-${seat}" aria-hidden="true">${seatLetter(seat)}</span>`;

/** Calls with the value that a field was changed to. @param {(value: string) => void} act */
export const onValue = (act) => (/** @type {{ currentTarget: HTMLInputElement }} */ event) =>
  act(event.currentTarget.value);

/** Calls with whether a box was checked. @param {(isChecked: boolean) => void} act */
export const onChecked = (act) => (/** @type {{ currentTarget: HTMLInputElement }} */ event) =>
  act(event.currentTarget.checked);

/**
 * Where a person may say its age, at a table that goes by ages.
 * @param {string} order of the turns
 * @param {(value: string) => void} act with what was typed
 */
export const ageField = (order, act = () => {}) =>
  html`<label>Your age or birthday <input name="age" pattern="\\d{1,3}|\\d{4}-\\d{2}-\\d{2}" placeholder="36 or 1989-04-30" autocomplete="off" title="an age, or a birthday as 1989-04-30" @input=${onValue(act)}>
    <span class="note">The ${order === "youngest" ? "youngest" : "oldest"} begins; who leaves it empty comes last. Only the years are sent.</span></label>`;

/**
 * Calls with the fields of a form, instead of sending it.
 * @param {(field: (name: string) => string, form: HTMLFormElement) => void} act
 */
export const onSubmit = (act) => (/** @type {SubmitEvent & { currentTarget: HTMLFormElement }} */ event) => {
  event.preventDefault();
  const form = event.currentTarget;
  const fields = new FormData(form);
  act((name) => String(fields.get(name)).trim(), form);
};

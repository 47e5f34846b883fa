// @ts-check
// The ways to a table: boards to choose from, a game at once, one with friends; folded, all that may be chosen of a table.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { ageField, onChecked, onSubmit, onValue, when } from "../shared/frame.js";
import { seatLetter, upperFirst } from "../shared/words.js";
import { boardFact } from "../trains/board_options.js";
import { botOf, strengthsOf } from "./bots.js";
import {
  chooseGame,
  fewest,
  fill,
  inviteFriends,
  makeChosen,
  playNow,
  setOption,
  setSeat,
} from "./create_form.js";
import { optionGroups, valueWords } from "./option_words.js";

/** @import { CreateForm } from "./create_form.js" */
/** @import { Catalog } from "./lobby_state.js" */
/** @import { ClockPreset, ListedBoard, OptionDescription, OptionValue, RulesetDescription } from "../api/openapi.js" */

const SUGGESTING = "searcher"; // a game that no such bot plays has no suggestions
const DOORS = /** @type {const} */ ([
  [false, "Only with my invitations", "Not in the lobby; a link for each seat."],
  [true, "Anybody", "Listed in the lobby; anybody may sit down or watch."],
]);
const HINTS = /** @type {const} */ ([
  [null, "Against bots alone", "Whoever plays with other people gets none."],
  [true, "For everybody", "Each may ask for its own seat."],
  [false, "For nobody", "Until the game is over."],
]);
const UNDO = /** @type {const} */ ([
  [
    "consent",
    "If the others agree",
    "Only one's last move, while nobody has acted since, and if it showed nothing hidden.",
  ],
  ["free", "Without asking", "The same moves, at once."],
  ["never", "Never", "What is done stays."],
]);

/**
 * A value that was typed, where it is JSON; else the server says what is wrong with it.
 * @param {string} text
 */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Where an option's value is chosen. @param {OptionDescription} option */
function optionInput(option) {
  const { name, default: usual } = option;
  const parts = option.type.anyOf ?? [option.type];
  const type = parts.find((part) => part.type !== "null") ?? parts[0];
  const id = `option-${name}`;
  /** @param {(value: string) => OptionValue} valueOf */
  const onChange = (valueOf) =>
    onValue((value) => setOption(name, value === "" ? undefined : valueOf(value)));
  if (type.type === "boolean") {
    return html`<select id=${id} @change=${onChange((value) => value === "true")}>
      <option value="">${usual ? "yes" : "no"} (as usual)</option><option value="true">yes</option><option value="false">no</option></select>`;
  }
  if (type.enum) {
    return html`<select id=${id} @change=${onChange((value) => value)}>
      <option value="">${valueWords(String(usual))} (as usual)</option>${type.enum.map((value) => html`<option value=${value}>${valueWords(value)}</option>`)}</select>`;
  }
  if (type.type !== "integer")
    return html`<input id=${id} placeholder=${JSON.stringify(usual)} @change=${onChange(parse)}>`;
  const none = html` <label class="none"><input type="checkbox" @change=${onChecked((isNone) => setOption(name, isNone ? null : undefined))}> none</label>`;
  return html`<input id=${id} type="number" min=${type.minimum ?? 0} max=${type.maximum ?? ""} placeholder=${JSON.stringify(usual)}
      @change=${onChange(Number)}>${when(
        parts.some((part) => part.type === "null"),
        () => none,
      )}`;
}

/** @param {RulesetDescription} ruleset @param {string} seat @param {number} place */
const seatSelect = ({ policies }, seat, place) =>
  html`<li><label>Seat ${seatLetter(place)}
  <select @change=${onValue((policy) => setSeat(place, policy))}>
    <option value="" ?selected=${!seat}>${place === 0 ? "me" : "a person"}</option>
    ${policies.map((policy) => html`<option value=${policy} ?selected=${seat === policy}>${botOf(policy).name}, a bot: ${botOf(policy).strength.toLowerCase()}</option>`)}</select></label></li>`;

/**
 * One of several, or a box: its field, what it is called, what it means.
 * @param {unknown} input
 * @param {string} title
 * @param {string} meaning
 */
const line = (input, title, meaning) =>
  html`<label class="line">${input}
      <span><b>${title}</b> <span class="note">${meaning}</span></span></label>`;

/**
 * A game that may be chosen: a picture of it, and what it is.
 * @param {CreateForm} form
 * @param {RulesetDescription} ruleset
 * @param {ListedBoard | null} board
 */
function gameCard(form, ruleset, board) {
  const { seats_least, seats_most } = ruleset;
  const isChosen = form.ruleset === ruleset.name && form.board === (board?.id ?? null);
  const picture = board ? `/v1/boards/${board.id}/svg` : "/assets/lobby/cards.svg";
  const seats = `${seats_least === seats_most ? seats_most : `${seats_least} to ${seats_most}`} players`;
  const facts = board ? [boardFact(board)] : [];
  return html`<label class="choice-card game-card">
      <input type="radio" name="game" .checked=${isChosen} @change=${() => chooseGame(ruleset, board?.id ?? null)}>
      <img src=${picture} alt="" width="180" height="112" loading="lazy">
      <span><b>${board ? board.title : ruleset.title}</b><span class="note">${[...facts, seats].join(" · ")}</span></span></label>`;
}

/** Every game: each board with the rules that it is usually played by, then the games that are played on none. @param {Catalog} catalog */
const gamesOf = ({ rulesets, boards }) => [
  ...boards.flatMap((board) =>
    rulesets.filter(({ name }) => name === board.ruleset).map((ruleset) => ({ ruleset, board })),
  ),
  ...rulesets
    .filter((ruleset) => ruleset.default_board === null)
    .map((ruleset) => ({ ruleset, board: null })),
];

/** @param {CreateForm} form @param {string} policy */
const strengthCard = (form, policy) =>
  html`<label class="choice-card"><input type="radio" name="strength" .checked=${form.strength === policy} @change=${() => fill({ strength: policy })}>
      <span><b>${botOf(policy).name}</b> <span class="strength">${botOf(policy).strength}</span><span class="note">${botOf(policy).meaning}</span></span></label>`;

/** The two buttons that most people need, and what they need to know. @param {CreateForm} form @param {RulesetDescription} ruleset */
function quickWays(form, ruleset) {
  const strengths = strengthsOf(ruleset);
  const counts = Array.from({ length: ruleset.seats_most }, (_, place) => place + 1);
  return html`<div class="quick">
    ${when(
      strengths.length > 0,
      () =>
        html`<fieldset class="strengths"><legend>Against</legend>${strengths.map((policy) => strengthCard(form, policy))}</fieldset>`,
    )}
    <label class="field">Your name <input maxlength="40" autocomplete="nickname" placeholder="Guest" .value=${form.name} @input=${onValue((name) => fill({ name }))}></label>
    <div class="ways">
      ${when(strengths.length > 0, () => html`<button class="primary large" ?disabled=${form.isBusy}>Play now</button>`)}
      <span class="friends"><button type="button" class="large" ?disabled=${form.isBusy} @click=${inviteFriends}>Invite friends</button>
      <label><span class="unseen">How many play</span><select @change=${onValue((people) => fill({ people: Number(people) }))}>
        ${counts.filter((count) => count >= fewest(ruleset)).map((count) => html`<option value=${count} ?selected=${count === form.people}>${count} of us</option>`)}</select></label></span></div>
    ${form.refusal ? html`<p class="refused"><b>Refused.</b> ${form.refusal}</p>` : nothing}
    <p class="note aim">${ruleset.meaning} <a href="/rules/${ruleset.name}">The rules</a></p></div>`;
}

/** @param {ReturnType<typeof optionGroups>[number]} group */
const optionGroup = ([group, rows]) =>
  html`<section><h2>${group}</h2><dl class="options">${rows.map(
    ({ option, title, unit }) =>
      html`<div><dt><label for="option-${option.name}">${upperFirst(title)}</label></dt>
      <dd>${optionInput(option)} ${unit}<p class="note">${option.meaning}</p></dd></div>`,
  )}</dl></section>`;

/** @param {CreateForm} form */
const hintField = (form) =>
  html`<fieldset><legend>Hints: what a strong bot would do in one's place</legend>${HINTS.map(([suggestions, title, meaning]) => line(html`<input type="radio" name="hints" .checked=${form.suggestions === suggestions} @change=${() => fill({ suggestions })}>`, title, meaning))}</fieldset>`;

/** @param {CreateForm} form */
const undoField = (form) =>
  html`<fieldset><legend>Taking a move back</legend>${UNDO.map(([undo, title, meaning]) => line(html`<input type="radio" name="undo" .checked=${form.undo === undo} @change=${() => fill({ undo })}>`, title, meaning))}</fieldset>`;

/** All that may be chosen of a table. @param {CreateForm} form @param {RulesetDescription} ruleset @param {ClockPreset[]} clocks */
function ownTable(form, ruleset, clocks) {
  const { seats } = form;
  const order = form.options.order ?? ruleset.options.find((option) => option.name === "order")?.default;
  const clock = /** @type {ClockPreset} */ (clocks.find((each) => each.name === form.clock));
  const options = ruleset.options.map((option) => ({
    ...option,
    default: option.name in clock.options ? clock.options[option.name] : option.default,
  }));
  return html`<details class="own"><summary>Seats, time, who may come, options</summary><div class="own-fields">
    <fieldset><legend>Seats</legend><ol class="seat-list">${seats.map((seat, place) => seatSelect(ruleset, seat, place))}</ol>
      <div class="buttons"><button type="button" ?disabled=${seats.length >= ruleset.seats_most} @click=${() => fill({ seats: [...seats, ""] })}>One seat more</button>
      <button type="button" ?disabled=${seats.length <= ruleset.seats_least} @click=${() => fill({ seats: seats.slice(0, -1) })}>One seat less</button></div></fieldset>
    <fieldset><legend>Time</legend>${clocks.map(({ name, title, meaning }) => line(html`<input type="radio" name="clock" .checked=${form.clock === name} @change=${() => fill({ clock: name })}>`, title, meaning))}</fieldset>
    <fieldset><legend>Who may come</legend>${DOORS.map(([isPublic, title, meaning]) => line(html`<input type="radio" name="door" .checked=${form.isPublic === isPublic} @change=${() => fill({ isPublic })}>`, title, meaning))}</fieldset>
    ${ruleset.policies.includes(SUGGESTING) ? hintField(form) : nothing}
    ${undoField(form)}
    ${order === "seated" ? nothing : html`<div class="field">${ageField(String(order), (age) => fill({ age }))}</div>`}
    <details><summary>Options of the ${ruleset.title} rules</summary><div class="option-groups">${optionGroups(options).map(optionGroup)}</div></details>
    <button type="button" class="primary large" ?disabled=${form.isBusy} @click=${makeChosen}>Make the table</button></div></details>`;
}

/** The form. @param {CreateForm} form @param {Catalog} catalog */
export function createForm(form, catalog) {
  const ruleset = /** @type {RulesetDescription} */ (
    catalog.rulesets.find((each) => each.name === form.ruleset)
  );
  return html`<form class="create" @submit=${onSubmit(() => playNow(ruleset))}>
    <fieldset class="pick"><legend>Pick a game</legend><div class="boards">${gamesOf(catalog).map(({ ruleset: each, board }) => gameCard(form, each, board))}</div></fieldset>
    ${quickWays(form, ruleset)}
    ${ownTable(form, ruleset, catalog.clocks)}</form>`;
}

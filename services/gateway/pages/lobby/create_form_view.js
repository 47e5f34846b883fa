// @ts-check
// The form that makes a table: board, seats, clock, who may come, and every option with its meaning.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { ageField, onChecked, onSubmit, onValue, when } from "../shared/frame.js";
import { seatLetter, upperFirst } from "../shared/words.js";
import { chooseGame, fill, makeTable, setOption, setSeat } from "./create_form.js";

/** @import { CreateForm } from "./create_form.js" */
/** @import { Catalog } from "./lobby_state.js" */
/** @import { ClockPreset, ListedBoard, OptionDescription, OptionValue, RulesetDescription } from "../api/openapi.js" */

/** @type {Record<string, string>} */
const POLICIES = {
  greedy: "a bot that plays to win",
  random: "a bot that plays at random",
  "hold-10": "a bot that saves ten cards",
  "buy-now": "a bot that buys at once",
};
const SUGGESTING = "searcher"; // a game that no such bot plays has no suggestions
const DOORS = /** @type {const} */ ([
  [false, "Only with my invitations", "Not in the lobby; a link for each seat."],
  [true, "Anybody", "Listed in the lobby; anybody may sit down or watch."],
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
      <option value="">${usual} (as usual)</option>${type.enum.map((value) => html`<option>${value}</option>`)}</select>`;
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
    ${policies.map((policy) => html`<option value=${policy} ?selected=${seat === policy}>${POLICIES[policy] ?? policy}</option>`)}</select></label></li>`;

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
 * A game that may be chosen.
 * @param {CreateForm} form
 * @param {RulesetDescription} ruleset
 * @param {string | null} board
 * @param {string} title
 * @param {string} note
 */
const gameCard = (form, ruleset, board, title, note) =>
  html`<label class="choice-card">
      <input type="radio" name="game" .checked=${form.ruleset === ruleset.name && form.board === board} @change=${() => chooseGame(ruleset, board)}>
      <span><b>${title}</b><span class="note">${note}</span></span></label>`;

/** @param {CreateForm} form @param {ListedBoard} board @param {RulesetDescription} ruleset */
const boardCard = (form, board, ruleset) =>
  gameCard(
    form,
    ruleset,
    board.id,
    board.title,
    `${board.cities} cities, ${board.routes} routes · ${board.rulesets.join(", ")} rules`,
  );

/** A game without a board. @param {CreateForm} form @param {RulesetDescription} ruleset */
const rulesetCard = (form, ruleset) => {
  const { name, seats_least, seats_most } = ruleset;
  const seats = seats_least === seats_most ? seats_most : `${seats_least} to ${seats_most}`;
  return gameCard(form, ruleset, null, upperFirst(name), `no board · ${seats} seats`);
};

/** @param {OptionDescription} option */
const optionRow = (option) =>
  html`<div><dt><label for="option-${option.name}">${upperFirst(option.name.replaceAll("_", " "))}</label></dt>
      <dd>${optionInput(option)}<p class="note">${option.meaning}</p></dd></div>`;

/** @param {CreateForm} form */
const helpField = (form) =>
  html`<fieldset><legend>Help</legend>${line(
    html`<input type="checkbox" .checked=${form.suggestions} @change=${onChecked((suggestions) => fill({ suggestions }))}>`,
    "Suggestions",
    "Whoever sits here may ask what a bot would do in its place. Without, nobody is told before the game is over.",
  )}</fieldset>`;

/** The form. @param {CreateForm} form @param {Catalog} catalog */
export function createForm(form, { rulesets, boards, clocks }) {
  const { seats } = form;
  const ruleset = /** @type {RulesetDescription} */ (rulesets.find((each) => each.name === form.ruleset));
  const order = form.options.order ?? ruleset.options.find((option) => option.name === "order")?.default;
  const clock = /** @type {ClockPreset} */ (clocks.find((each) => each.name === form.clock));
  const options = ruleset.options.map((option) => ({
    ...option,
    default: option.name in clock.options ? clock.options[option.name] : option.default,
  }));
  return html`<form class="create" @submit=${onSubmit(makeTable)}>
    <fieldset><legend>Game</legend><div class="boards">${boards.flatMap((board) => rulesets.filter(({ name }) => name === board.ruleset).map((each) => boardCard(form, board, each)))}
      ${rulesets.filter((each) => each.default_board === null).map((each) => rulesetCard(form, each))}</div></fieldset>
    <p class="note aim">${ruleset.meaning} <a href="/rules/${ruleset.name}">The rules</a></p>
    <label class="field">Your name <input required maxlength="40" autocomplete="nickname" .value=${form.name} @input=${onValue((name) => fill({ name }))}></label>
    ${order === "seated" ? nothing : html`<div class="field">${ageField(String(order), (age) => fill({ age }))}</div>`}
    <fieldset><legend>Seats</legend><ol class="seat-list">${seats.map((seat, place) => seatSelect(ruleset, seat, place))}</ol>
      <div class="buttons"><button type="button" ?disabled=${seats.length >= ruleset.seats_most} @click=${() => fill({ seats: [...seats, ""] })}>One seat more</button>
      <button type="button" ?disabled=${seats.length <= ruleset.seats_least} @click=${() => fill({ seats: seats.slice(0, -1) })}>One seat less</button></div></fieldset>
    <fieldset><legend>Time</legend>${clocks.map(({ name, title, meaning }) => line(html`<input type="radio" name="clock" .checked=${form.clock === name} @change=${() => fill({ clock: name })}>`, title, meaning))}</fieldset>
    <fieldset><legend>Who may come</legend>${DOORS.map(([isPublic, title, meaning]) => line(html`<input type="radio" name="door" .checked=${form.isPublic === isPublic} @change=${() => fill({ isPublic })}>`, title, meaning))}</fieldset>
    ${ruleset.policies.includes(SUGGESTING) ? helpField(form) : nothing}
    <details><summary>Options of the ${ruleset.name} rules</summary><dl class="options">${options.map(optionRow)}</dl></details>
    ${form.refusal ? html`<p class="refused"><b>Refused.</b> ${form.refusal}</p>` : nothing}
    <button class="primary large" ?disabled=${form.isBusy}>Make the table</button></form>`;
}

// The form that makes a table: rules, board, seats, clock, who may come, and every option with its meaning.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { upperFirst } from "../shared/words.js";

const POLICIES = { greedy: "a bot that plays to win", random: "a bot that plays at random", "hold-10": "a bot that saves ten cards", "buy-now": "a bot that buys at once" };
const DOORS = [["link", "Only with my invitations", "Not in the lobby; a link for each seat."], ["public", "Anybody", "Listed in the lobby; anybody may sit down or watch."]];

/** What may be typed for an option: its kind, and its bounds. */
function kindOf(type) {
  const parts = type.anyOf ?? [type];
  const main = parts.find((part) => part.type !== "null") ?? parts[0];
  const nullable = parts.some((part) => part.type === "null");
  return { main, nullable };
}

function optionInput(form, option) {
  const { main, nullable } = kindOf(option.type);
  const name = `option-${option.name}`;
  const set = (value) => form.setOption(option.name, value);
  const shown = JSON.stringify(option.default);
  if (main.type === "boolean") {
    return html`<select id=${name} @change=${(event) => set(event.target.value === "" ? undefined : event.target.value === "true")}>
      <option value="">${option.default ? "yes" : "no"} (as usual)</option><option value="true">yes</option><option value="false">no</option></select>`;
  }
  if (main.enum) {
    return html`<select id=${name} @change=${(event) => set(event.target.value || undefined)}>
      <option value="">${option.default} (as usual)</option>${main.enum.map((value) => html`<option>${value}</option>`)}</select>`;
  }
  if (main.type === "integer") {
    return html`<input id=${name} type="number" min=${main.minimum ?? 0} max=${main.maximum ?? ""} placeholder=${shown}
      @change=${(event) => set(event.target.value === "" ? undefined : Number(event.target.value))}>${nullable ? html` <label class="none"><input type="checkbox"
      @change=${(event) => set(event.target.checked ? null : undefined)}> none</label>` : nothing}`;
  }
  return html`<input id=${name} placeholder=${shown} @change=${(event) => set(event.target.value === "" ? undefined : form.parse(event.target.value))}>`;
}

const seatSelect = (form, ruleset, seat, place) => html`<li><label>Seat ${"ABCDEFGH"[place]}
  <select @change=${(event) => form.setSeat(place, event.target.value)}>
    <option value="" ?selected=${!seat}>${place === 0 && form.sits ? "me" : "a person"}</option>
    ${ruleset.policies.map((policy) => html`<option value=${policy} ?selected=${seat === policy}>${POLICIES[policy] ?? policy}</option>`)}</select></label></li>`;

/** The form. `form` has the choices so far and what changes them. */
export function createForm(form) {
  const { rulesets, boards, clocks } = form;
  if (!rulesets) return html`<p class="note">Loading …</p>`;
  const ruleset = rulesets.find((each) => each.name === form.ruleset);
  return html`<form class="create" @submit=${(event) => form.submit(event)}>
    <fieldset><legend>Board</legend><div class="boards">${boards.map((board) => html`<label class="choice-card">
      <input type="radio" name="board" .checked=${form.board === board.id} @change=${() => form.setBoard(board)}>
      <span><b>${board.title}</b><span class="note">${board.cities} cities, ${board.routes} routes · ${board.rulesets.join(", ")} rules</span></span></label>`)}</div></fieldset>
    <p class="note aim">${ruleset.meaning} <a href="/rules/${ruleset.name}">The rules</a></p>
    <label class="field">Your name <input required maxlength="40" autocomplete="nickname" .value=${form.name} @input=${(event) => form.setName(event.target.value)}></label>
    <fieldset><legend>Seats</legend><ol class="seat-list">${form.seats.map((seat, place) => seatSelect(form, ruleset, seat, place))}</ol>
      <div class="buttons"><button type="button" ?disabled=${form.seats.length >= ruleset.seats_most} @click=${() => form.addSeat()}>One seat more</button>
      <button type="button" ?disabled=${form.seats.length <= ruleset.seats_least} @click=${() => form.dropSeat()}>One seat less</button></div></fieldset>
    <fieldset><legend>Time</legend>${clocks.map((clock) => html`<label class="line"><input type="radio" name="clock" .checked=${form.clock === clock.name} @change=${() => form.setClock(clock.name)}>
      <span><b>${clock.title}</b> <span class="note">${clock.meaning}</span></span></label>`)}</fieldset>
    <fieldset><legend>Who may come</legend>${DOORS.map(([name, title, meaning]) => html`<label class="line"><input type="radio" name="door" .checked=${form.door === name} @change=${() => form.setDoor(name)}>
      <span><b>${title}</b> <span class="note">${meaning}</span></span></label>`)}</fieldset>
    <fieldset><legend>Help</legend><label class="line"><input type="checkbox" .checked=${form.suggestions} @change=${(event) => form.setSuggestions(event.target.checked)}>
      <span><b>Suggestions</b> <span class="note">Whoever sits here may ask what a bot would do in its place. Without, nobody is told before the game is over.</span></span></label></fieldset>
    <details><summary>Options of the ${ruleset.name} rules</summary><dl class="options">${ruleset.options.map((option) => html`<div><dt><label for="option-${option.name}">${upperFirst(option.name.replaceAll("_", " "))}</label></dt>
      <dd>${optionInput(form, option)}<p class="note">${option.meaning}</p></dd></div>`)}</dl></details>
    ${form.refusal ? html`<p class="refused"><b>Refused.</b> ${form.refusal}</p>` : nothing}
    <button class="primary large" ?disabled=${form.busy}>Make the table</button></form>`;
}

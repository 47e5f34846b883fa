// @ts-check
// Where else the seat of this browser is told of its turn: its webhook, set, tested and removed on the table's page.
import { html, nothing, render } from "../vendor/lit-html/lit-html.js";
import { ask } from "../api/api.js";
import { myGame } from "../api/my_games.js";
import { onSubmit, onValue, reasonOf } from "../shared/frame.js";

/** @import { NewWebhook, WebhookState } from "../api/openapi.js" */
/** @typedef {NonNullable<NewWebhook["form"]>} Form */

/** @type {Record<Form, [string, string]>} */
const FORMS = {
  discord: ["Discord", "In Discord: the channel's settings, Integrations, Webhooks, Copy Webhook URL."],
  slack: ["Slack", "In Slack: an app with Incoming Webhooks, whose Webhook URL you copy."],
  ledgerline: ["A program", "It is sent JSON, signed with a secret that is shown here once."],
};
const ASKED_EVERY_MS = 1_000;
const MOST_QUESTIONS = 30;

const place = document.createElement("div");
let game = "";
/** @type {{ stored: WebhookState | null, form: Form, error: string, said: string, isBusy: boolean }} */
const shown = { stored: null, form: "discord", error: "", said: "", isBusy: false };

const request = () => ({ path: { game }, token: myGame(game).token });
const dialog = () => place.querySelector("dialog");

/** Open the form for a game in which this browser has a seat. @param {string} asked */
export async function openWebhook(asked) {
  game = asked;
  if (!place.isConnected) document.body.append(place);
  Object.assign(shown, { stored: null, error: "", said: "", isBusy: false });
  draw();
  dialog()?.showModal();
  await attempt(async () => {
    await read();
    shown.form = shown.stored?.form ?? shown.form;
    return "";
  });
}

async function read() {
  shown.stored = await ask("GET /games/{game}/webhook", request());
}

/** Do something, and say what it came to: beside the field where it is refused. @param {() => Promise<string>} action */
async function attempt(action) {
  Object.assign(shown, { error: "", said: "", isBusy: true });
  draw();
  try {
    shown.said = await action();
  } catch (error) {
    shown.error = reasonOf(error);
  }
  shown.isBusy = false;
  draw();
}

/** @param {string} url */
const save = (url) =>
  attempt(async () => {
    const { form } = shown;
    const { secret } = await ask("PUT /games/{game}/webhook", { ...request(), body: { url, form } });
    await read();
    return form === "ledgerline" ? `Saved. The secret: ${secret}` : "Saved.";
  });

const test = () =>
  attempt(async () => {
    shown.stored = await ask("POST /games/{game}/webhook/test", request());
    for (let asked = 0; asked < MOST_QUESTIONS && dialog()?.open; asked += 1) {
      await new Promise((resolve) => setTimeout(resolve, ASKED_EVERY_MS));
      await read();
      if (shown.stored?.notified) return "The test has arrived.";
      if (shown.stored?.failure) return `The test has not arrived: ${shown.stored.failure}.`;
    }
    return "The test is still under way.";
  });

const remove = () =>
  attempt(async () => {
    shown.stored = await ask("DELETE /games/{game}/webhook", request());
    return "Removed.";
  });

/** @param {WebhookState} stored */
const stateView = ({ form, notified, failure }) =>
  html`<p class="note">${FORMS[form ?? "ledgerline"][0]} is told of your turns${
    failure ? `, but the last message has not arrived: ${failure}` : notified ? "" : ". Nothing was sent yet"
  }.</p>`;

function draw() {
  const { stored, form, error, said, isBusy } = shown;
  const choose = (/** @type {string} */ chosen) => {
    shown.form = /** @type {Form} */ (chosen);
    draw();
  };
  render(
    html`<dialog class="webhook-dialog" aria-labelledby="webhook-title"><div class="inside">
    <header><h2 id="webhook-title">Message me elsewhere</h2><button type="button" class="quiet" @click=${() => dialog()?.close()}>Close</button></header>
    <p>When it is your turn, and when the game is over, this server sends a message to:</p>
    <form @submit=${onSubmit((field) => save(field("url")))}>
      <label>Where <select name="form" .value=${form} @change=${onValue(choose)}>${Object.entries(FORMS).map(([name, [title]]) => html`<option value=${name} ?selected=${name === form}>${title}</option>`)}</select></label>
      <label>Its address <input name="url" type="url" required maxlength="1000" placeholder="https://" autocomplete="off" aria-describedby="webhook-error webhook-how" aria-invalid=${error ? "true" : "false"} .value=${stored?.url ?? ""}></label>
      <p class="note error" id="webhook-error" role="alert">${error}</p>
      <p class="note" id="webhook-how">${FORMS[form][1]}</p>
      <p class="buttons"><button class="primary" ?disabled=${isBusy}>Save</button>
      ${stored?.url ? html`<button type="button" ?disabled=${isBusy} @click=${test}>Send a test</button><button type="button" ?disabled=${isBusy} @click=${remove}>Remove</button>` : nothing}</p>
    </form>
    ${stored?.url ? stateView(stored) : nothing}
    <p class="said" role="status">${said}</p></div></dialog>`,
    place,
  );
}

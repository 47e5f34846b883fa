// @ts-check
// The switch "Tell me on this device": Web Push tells who has closed the page that it is their turn.
import { ask, Problem } from "../api/api.js";
import { myGame } from "../api/my_games.js";
import { say } from "../shared/frame.js";

/** @import { NewPush } from "../api/openapi.js" */

const WORKER = "/service_worker.js";
const SETTING = "ledgerline.push."; // in this browser, by game: the address that the server was given

/** Whether this browser can be told when no page is open. */
export const canPush = () =>
  isSecureContext &&
  "PushManager" in globalThis &&
  "serviceWorker" in navigator &&
  "Notification" in globalThis;

/** Whether this browser is told of a game. @param {string} game */
export const isPushed = (game) => localStorage.getItem(SETTING + game) !== null;

/** The server's public key as a browser takes it. @param {string} key in base64url */
const bytesOf = (key) =>
  Uint8Array.from(atob(key.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));

/** This browser's subscription with the server's key: one that was made with another key is of no use. @param {string} key */
async function subscribe(key) {
  await navigator.serviceWorker.register(WORKER);
  const { pushManager } = await navigator.serviceWorker.ready;
  const applicationServerKey = bytesOf(key);
  const options = { userVisibleOnly: true, applicationServerKey };
  return pushManager.subscribe(options).catch(async (error) => {
    const old = await pushManager.getSubscription();
    if (!old) throw error;
    await old.unsubscribe();
    return pushManager.subscribe(options);
  });
}

/** @param {string} detail what the person is told */
const unable = (detail) => new Problem({ detail }, 0);

/** Have this device told of a game. Throws Problem. @param {string} game */
async function turnOn(game) {
  const { key } = await ask("GET /push-key");
  if (!key) throw unable("This server tells no devices.");
  if ((await Notification.requestPermission()) !== "granted")
    throw unable("This browser shows no notices of this page.");
  const subscription = await subscribe(key).catch(() => {
    throw unable("This browser reaches no push service now.");
  });
  const { endpoint, keys } = subscription.toJSON();
  const body = /** @type {NewPush} */ ({ endpoint, keys });
  await ask("PUT /games/{game}/push", { path: { game }, token: myGame(game).token, body });
  localStorage.setItem(SETTING + game, String(endpoint));
}

/** @param {string} game */
async function turnOff(game) {
  const endpoint = localStorage.getItem(SETTING + game) ?? "";
  await ask("DELETE /games/{game}/push", { path: { game }, token: myGame(game).token, query: { endpoint } });
  localStorage.removeItem(SETTING + game); // the browser stays subscribed: other games may be told of
}

/** Turn it on or off, and say which. Throws what kept it. @param {string} game */
export async function togglePush(game) {
  await (isPushed(game) ? turnOff(game) : turnOn(game));
  say(isPushed(game) ? "This device is told when it is your turn" : "This device is told no more");
}

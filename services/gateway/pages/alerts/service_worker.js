// @ts-check
// Runs without a page: shows what the server sends by Web Push, and opens the table on a click.

/** What a server sends; the rest is of no use here. @typedef {{ type: string, game: string }} Notice */
/** @typedef {ExtendableEvent & { data: { json(): Notice } | null }} Pushed */
/** @typedef {ExtendableEvent & { notification: Notification }} Clicked */
/** @typedef {Event & { waitUntil(done: Promise<unknown>): void }} ExtendableEvent */
/** @typedef {{ url: string, visibilityState: string, focus(): Promise<unknown> }} Tab */
/**
 * What is used of a service worker's global object, of which the types of a page know nothing.
 * @typedef {object} PageLess
 * @property {ServiceWorkerRegistration} registration
 * @property {{ matchAll(options: object): Promise<Tab[]>, openWindow(url: string): Promise<unknown> }} clients
 * @property {(type: string, act: (event: any) => void) => void} addEventListener
 */

const worker = /** @type {PageLess} */ (/** @type {unknown} */ (globalThis));
const ICON = "/assets/shared/favicon.svg";
/** @type {Record<string, string>} */
const WORDS = {
  your_turn: "It is your turn",
  choice_to_make: "You have a choice to make",
  game_over: "The game is over",
};

/** The tabs that show a table. @param {string} path */
async function tabsOf(path) {
  const tabs = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  return tabs.filter(({ url }) => new URL(url).pathname === path);
}

/** Show a notice, unless who is meant looks at the table. @param {Notice} notice */
async function showNotice({ type, game }) {
  const path = `/table/${encodeURIComponent(game)}`;
  const tabs = await tabsOf(path);
  if (tabs.some(({ visibilityState }) => visibilityState === "visible")) return;
  const title = WORDS[type] ?? "Something happened at your table";
  await worker.registration.showNotification(title, { tag: game, icon: ICON, data: path });
}

/** @param {string} path */
async function openTable(path) {
  const [tab] = await tabsOf(path);
  await (tab ? tab.focus() : worker.clients.openWindow(path));
}

worker.addEventListener("push", (/** @type {Pushed} */ event) => {
  if (event.data) event.waitUntil(showNotice(event.data.json()));
});
worker.addEventListener("notificationclick", (/** @type {Clicked} */ event) => {
  event.notification.close();
  event.waitUntil(openTable(event.notification.data));
});

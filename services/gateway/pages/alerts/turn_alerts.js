// @ts-check
// The tab's title and icon say that it is one's turn, and the browser shows a notice of it to who wants one.
import { say } from "../shared/frame.js";
import { game, isOwnTurn, page, refuse, update } from "../table/table_state.js";
import { togglePush } from "./push.js";

const SETTING = "ledgerline.notices";
const TURN = "It is your turn";
const MARK = "● Your turn – ";
const DOT = '<circle cx="24" cy="8" r="8" fill="#d7263d" stroke="#fff" stroke-width="2"/></svg>';

const title = document.title;
const icon = /** @type {HTMLLinkElement} */ (document.querySelector("link[rel=icon]"));
const plainIcon = icon.href;
/** @type {Promise<string> | undefined} */
let drawn; // what the plain icon's file says, read once
let isMarked = false;

/** What its owner lets the browser show; asked once, as the answer comes from another process. */
let permission = isSecureContext && "Notification" in globalThis ? Notification.permission : "denied";
page.hasNotices = permission === "granted" && localStorage.getItem(SETTING) === "on";

/** Whether this browser can show notices of this page: some ask for a secure address, some forbade it. */
export const canNotify = () => permission !== "denied";

/** Mark the tab for as long as it is the viewer's turn. */
export function markTab() {
  const isTurn = isOwnTurn(page.latest);
  if (isTurn === isMarked) return;
  isMarked = isTurn;
  document.title = isTurn ? MARK + title : title;
  drawn ??= fetch(plainIcon).then((answer) => answer.text());
  drawn.then(
    (svg) => {
      const seen = isMarked ? svg.trim().replace("</svg>", DOT) : svg;
      icon.href = `data:image/svg+xml,${encodeURIComponent(seen)}`;
    },
    () => {}, // without an icon the title says it
  );
}

/** Ask for the browser's consent where it is needed, and keep in this browser whether notices are wanted. */
export async function toggleNotices() {
  if (!page.hasNotices) permission = await Notification.requestPermission();
  const hasNotices = !page.hasNotices && permission === "granted";
  localStorage.setItem(SETTING, hasNotices ? "on" : "off");
  say(hasNotices ? "Notices of your turn are on" : "Notices of your turn are off");
  update({ hasNotices });
}

/** Have this device told when the page is closed, or no more; show why where it can't be. */
export async function toggleDevice() {
  await togglePush(game).catch(refuse);
  update({});
}

/** Show a notice that the viewer's turn has begun, where one is wanted and the page is out of sight. */
export function notifyOfTurn() {
  if (!page.hasNotices || !document.hidden) return;
  try {
    const notice = new Notification(TURN, { tag: game, body: title, icon: plainIcon });
    notice.addEventListener("click", () => {
      window.focus();
      notice.close();
    });
  } catch {
    update({ hasNotices: false }); // a phone's browser that lets no page show one
  }
}

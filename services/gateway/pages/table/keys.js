// @ts-check
// Keys: whatever names its key in `aria-keyshortcuts` is pressed by it, or gets the focus, and stands in the list of `?`.
import { root } from "../shared/frame.js";
import { choose, closeChoice, closeDrawer } from "./choosing.js";
import { page } from "./table_state.js";

/** @import { PlayerCommand } from "../api/openapi.js" */

const SETTING = "ledgerline.keys";

/** The key of a command: its kind's, or the first letter of a kind that has none. @param {PlayerCommand} command */
export const keyOf = ({ type }) => page.drawing.words.keys[type] ?? type[0];

/** What has a key and is in sight. @returns {HTMLElement[]} */
const keyed = () =>
  /** @type {HTMLElement[]} */ ([...root.querySelectorAll("[aria-keyshortcuts]")]).filter((each) =>
    each.checkVisibility(),
  );

/** @param {HTMLElement} element */
const nameOf = (element) => element.ariaLabel ?? (element.textContent ?? "").replace(/\s+/g, " ").trim();

/** Show the list of keys: those of all that can be pressed now, and whether they are on. */
export function showKeys() {
  const isOff = localStorage.getItem(SETTING) === "off";
  const keys = new Map(
    keyed()
      .toReversed()
      .map((each) => [each.ariaKeyShortcuts ?? each.getAttribute("aria-keyshortcuts") ?? "", nameOf(each)]),
  );
  const run = () => {
    localStorage.setItem(SETTING, isOff ? "on" : "off");
    closeChoice();
  };
  choose({
    title: "Keys",
    question: isOff ? "They are off in this browser." : "What each key does now:",
    offers: [],
    keys: [...keys].toSorted(([a], [b]) => a.localeCompare(b)),
    confirmation: { text: isOff ? "Turn keys on" : "Turn keys off", run },
  });
}

/** @param {KeyboardEvent} event */
function press(event) {
  const { key, target } = event;
  if (
    event.ctrlKey ||
    event.altKey ||
    event.metaKey ||
    event.defaultPrevented ||
    root.querySelector("dialog[open]")
  )
    return;
  if (target instanceof Element && target.matches("input:not([type=checkbox]), select, textarea")) return;
  if (key === "Escape" && page.drawer) closeDrawer();
  if (key !== "?" && localStorage.getItem(SETTING) === "off") return;
  const meant = keyed().find((each) => each.getAttribute("aria-keyshortcuts") === key);
  if (!meant) return;
  event.preventDefault();
  meant.focus();
  if (meant.matches("button")) meant.click();
}

/** Listen for keys from now on. */
export const listenForKeys = () => addEventListener("keydown", press);

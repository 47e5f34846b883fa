// @ts-check
// Choosing among what is legal, and what is open beside the table.
import { root } from "../shared/frame.js";
import { page, update } from "./table_state.js";

/** @import { Choice } from "./table_state.js" */

/** Ask which of some commands, or whether to do something. @param {Choice} choice */
export function choose(choice) {
  update({ choice });
  const dialog = root.querySelector("dialog");
  if (!dialog?.open) dialog?.showModal();
}

export function closeChoice() {
  const dialog = root.querySelector("dialog");
  if (dialog?.open) dialog.close();
  if (!page.choice) return;
  page.choice = null;
  page.drawing.point?.(null);
  update({});
}

/** Give the focus, which was lost, to what may be done, or to whose turn it is. */
export const focusOnActions = () =>
  /** @type {HTMLElement | null} */ (
    root.querySelector("#actions-title") ?? root.querySelector(".turn")
  )?.focus();

/** Open a drawer, or close it. @param {NonNullable<typeof page.drawer>} drawer */
export const toggleDrawer = (drawer) => update({ drawer: page.drawer === drawer ? null : drawer });

export const closeDrawer = () => update({ drawer: null });

export const confirmLeave = () =>
  choose({
    title: "Leave the game?",
    question: "Your seat takes no further part. This can't be undone.",
    offers: [{ command: { type: "leave" }, text: "leave the table", title: "leave the table", detail: "" }],
  });

// @ts-check
// The page of a table: it asks for the folded view, shows it, and sends what the viewer chooses. It decides nothing.
import { render } from "../vendor/lit-html/lit-html.js";
import { myGame, takeFragment } from "../api/my_games.js";
import { guide } from "../guide/guide.js";
import { offerRules } from "../guide/rules_dialog.js";
import { root, showFailure } from "../shared/frame.js";
import { openLink } from "../shared/seat_link.js";
import { animate } from "./animation.js";
import { focusOnActions } from "./choosing.js";
import { follow } from "./following.js";
import { isInvitedTwice, secondSeat, shareAddress } from "./inviting.js";
import { listenForKeys } from "./keys.js";
import { startReplay } from "./replay.js";
import { drawWith, game, page } from "./table_state.js";
import { tablePage } from "./table_view.js";
import { markTab } from "./turn_alerts.js";

/** @import { AnyTable } from "./table_state.js" */

/** @type {AnyTable | undefined} */
let drawnTable;
let isDrawing = false;
let isStale = false;

/** Show what is known. What loses the focus by that asks for another drawing, which comes after this one. */
function draw() {
  if (isDrawing) {
    isStale = true;
    return;
  }
  const hadFocus = root.contains(document.activeElement);
  isDrawing = true;
  render(tablePage(page, myGame(game)), root);
  shareAddress(page.latest);
  offerRules(page.table);
  guide(page);
  markTab();
  isDrawing = false;
  if (drawnTable && drawnTable !== page.table && "routes" in drawnTable && "routes" in page.table)
    animate(drawnTable, page.table, root);
  drawnTable = page.table;
  if (hadFocus && document.activeElement === document.body) {
    focusOnActions();
  }
  if (isStale) {
    isStale = false;
    queueMicrotask(draw);
  }
}

async function begin() {
  const fragment = takeFragment(game);
  try {
    page.isSecondAsked = isInvitedTwice();
    const token = fragment.get("token");
    const link = await openLink(game, token ?? secondSeat());
    if (typeof link !== "string") page.link = link;
    else if (token) page.notice = { text: link };
    await follow();
  } catch (error) {
    return showFailure("This table can't be shown", error);
  }
  drawWith(draw);
  listenForKeys();
  setInterval(draw, 1000); // clocks, and how old the view is
  const at = Number(fragment.get("at"));
  return at ? startReplay(at, fragment.get("as")) : undefined;
}

begin();

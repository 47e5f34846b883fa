// @ts-check
// The page of a table: it asks for the folded view, shows it, and sends what the viewer chooses. It decides nothing.
import { render } from "../vendor/lit-html/lit-html.js";
import { markTab } from "../alerts/turn_alerts.js";
import { myGame, takeFragment } from "../api/my_games.js";
import { guide } from "../guide/guide.js";
import { offerRules } from "../guide/rules_dialog.js";
import { partsTable } from "../parts/parts_table.js";
import { startReplay } from "../review/replay.js";
import { noticeReturns } from "../review/since.js";
import { isInvitedTwice, secondSeat, shareAddress } from "../seating/inviting.js";
import { awaitRematch } from "../seating/rematch.js";
import { root, showFailure } from "../shared/frame.js";
import { openLink } from "../shared/seat_link.js";
import { boardTable } from "../trains/board_table.js";
import { focusOnActions } from "./choosing.js";
import { follow } from "./following.js";
import { listenForKeys } from "./keys.js";
import { PAINTED_MS } from "./pacing.js";
import { drawWith, game, page } from "./table_state.js";
import { tablePage } from "./table_view.js";

/** @import { AnyTable } from "./table_state.js" */

const FIRST_MS = 150; // after which the first drawing is painted: its fonts and styles are found meanwhile

/** @type {AnyTable | undefined} */
let drawnTable;
let isDrawing = false;
let isStale = false;
/** @type {number | undefined} */
let timer;

/** Show what is known. What loses the focus by that asks for another drawing, which comes after this one. */
function draw() {
  if (isDrawing) {
    isStale = true;
    return;
  }
  const hadFocus = root.contains(document.activeElement);
  isDrawing = true;
  render(tablePage(page, myGame(game)), root);
  isDrawing = false;
  const before = drawnTable;
  drawnTable = page.table;
  if (hadFocus && document.activeElement === document.body) {
    focusOnActions();
  }
  page.drawing.drawn?.(before, page);
  timer ??= setTimeout(finish, before ? PAINTED_MS : FIRST_MS);
  if (isStale) {
    isStale = false;
    queueMicrotask(draw);
  }
}

/** Do what may wait until the drawing is painted, and what asks where things are: before that it would be computed for this alone. */
function finish() {
  timer = undefined;
  shareAddress(page.latest);
  offerRules(page);
  guide(page);
  markTab();
  awaitRematch();
}

async function begin() {
  const fragment = takeFragment(game);
  try {
    page.isSecondAsked = isInvitedTwice();
    const token = fragment.get("token");
    const link = await openLink(game, token ?? secondSeat());
    if (typeof link !== "string") page.link = link;
    else if (token) page.notice = { text: link };
    await follow([partsTable, boardTable]);
  } catch (error) {
    return showFailure("This table can't be shown", error);
  }
  drawWith(draw);
  listenForKeys();
  setInterval(draw, 1000); // clocks, and how old the view is
  const at = Number(fragment.get("at"));
  if (at) return startReplay(at, fragment.get("as"));
  return noticeReturns();
}

begin();

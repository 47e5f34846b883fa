// @ts-check
// What the page of an audit shows, and what is asked for on it: the audit, an entry explained, doubts, the file.
import { ask, newKey, Problem } from "../api/api.js";
import { firstHead, followsFrom } from "../api/chain.js";
import { myGame, takeFragment } from "../api/my_games.js";
import { reasonOf, say } from "../shared/frame.js";
import { openLink } from "../shared/seat_link.js";

/** @import { AuditReport, Dispute, PublicKey } from "../api/openapi.js" */
/** @import { AnyTable } from "../table/table_state.js" */
/** @import { SeatLink } from "../shared/seat_link.js" */

/**
 * @typedef {object} AuditPage
 * @property {AnyTable} table
 * @property {AuditReport | null} audit
 * @property {{ number: number, isBroken: boolean } | null} chain checked in this browser up to this entry
 * @property {Dispute[]} doubts of the viewer's seat
 * @property {PublicKey[]} keys that sign this server's games
 * @property {boolean} sits whether the viewer has a seat
 * @property {number | null} at the entry that is explained
 * @property {boolean} isBusy
 * @property {string | null} refusal
 * @property {boolean} isAway whether that is because the server is away
 * @property {SeatLink | null} link that the page was opened by, while its holder hasn't said which seat counts
 */

const AGAIN_MS = 1500; // a game is in the archive a little later than it is over, and a doubt is answered a little later
const MOST_DOUBTS = 20; // whose answers are shown

export const game = location.pathname.split("/")[2];
const path = { game };
const token = () => myGame(game).token;

/** The state of the page; the table is there before it is drawn first. */
export const page = /** @type {AuditPage} */ ({
  audit: null,
  chain: null,
  doubts: /** @type {Dispute[]} */ ([]),
  keys: /** @type {PublicKey[]} */ ([]),
  sits: false,
  at: null,
  isBusy: false,
  refusal: null,
  isAway: false,
  link: null,
});

let draw = () => {};

/** @param {Partial<AuditPage>} change */
export function update(change) {
  Object.assign(page, change);
  draw();
}

/** @param {unknown} error */
function refuse(error) {
  const refusal = reasonOf(error);
  say(refusal);
  update({ refusal, isAway: !(error instanceof Problem) });
}

/**
 * Read what there is of the game, and have it drawn by this whenever more is known.
 * @param {() => void} drawing
 */
export async function begin(drawing) {
  const fragment = takeFragment(game);
  const link = await openLink(game, fragment.get("token"));
  if (typeof link === "string") page.refusal = link;
  else page.link = link;
  page.table = await ask("GET /games/{game}/state", { path, query: { since: "0" }, token: token() });
  page.at = Number(fragment.get("at")) || null;
  page.sits = myGame(game).seat !== undefined && token() !== undefined;
  draw = drawing;
  addEventListener("hashchange", () =>
    explain(Number(new URLSearchParams(location.hash.slice(1)).get("at")) || null),
  );
  draw();
  for (const each of [readAudit, checkChain, readDoubts, readKeys]) keepReading(each);
}

/** Read something; where the server is away, until it is back. @param {() => Promise<void>} read */
async function keepReading(read) {
  try {
    await read();
    if (page.isAway) update({ isAway: false, refusal: null });
  } catch (error) {
    refuse(error);
    if (page.isAway) setTimeout(keepReading, AGAIN_MS, read);
  }
}

const readKeys = async () => update(await ask("GET /public-keys"));

/** The audit, with the entry explained that was asked for. It is there once the game is over and in the archive. */
async function readAudit() {
  if (page.table.status !== "over") return;
  const { at } = page;
  /** @type {Record<string, string>} */
  const query = at ? { at: String(at) } : {};
  try {
    const audit = await ask("GET /games/{game}/audit", { path, query, token: token() });
    if (at === page.at) update({ audit, refusal: null });
  } catch (error) {
    if (!(error instanceof Problem && error.status === 503)) throw error;
    setTimeout(keepReading, AGAIN_MS, readAudit);
  }
}

/** @param {number | null} at */
function explain(at) {
  if (at === page.at) return;
  page.at = at;
  keepReading(readAudit);
}

/** Explain an entry, and have the address name it. @param {string} at */
export function chooseEntry(at) {
  history.replaceState(null, "", `#at=${at}`);
  explain(Number(at));
}

/** Check the hash chain of all entries here. */
async function checkChain() {
  let [number, head, more] = [0, firstHead(game), true];
  while (more) {
    const query = { after: String(number), proofs: "true" };
    const read = await ask("GET /games/{game}/view", { path, query, token: token() });
    for (const entry of read.entries) {
      if (!entry.head || !followsFrom(head, entry)) {
        update({ chain: { number: entry.number, isBroken: true } });
        return;
      }
      ({ number, head } = { number: entry.number, head: entry.head });
    }
    more = read.more && read.entries.length > 0;
  }
  update({ chain: { number, isBroken: false } });
}

async function readDoubts() {
  if (!page.sits) return;
  const { disputes } = await ask("GET /games/{game}/disputes", { path, token: token() });
  const readings = disputes
    .slice(0, MOST_DOUBTS)
    .map(({ dispute }) =>
      ask("GET /games/{game}/disputes/{dispute}", { path: { game, dispute }, token: token() }),
    );
  const doubts = await Promise.all(readings);
  update({ doubts });
  if (doubts.some((each) => !each.answer && !each.final)) setTimeout(keepReading, AGAIN_MS, readDoubts);
}

/** Do something, with nothing else to be done meanwhile. @param {() => Promise<void>} action */
async function attempt(action) {
  update({ isBusy: true, refusal: null });
  try {
    await action();
  } catch (error) {
    refuse(error);
    if (page.isAway) setTimeout(keepReading, AGAIN_MS, readKeys);
  }
  update({ isBusy: false });
}

/** Doubt an entry. @param {number} number @param {string} reason @param {HTMLFormElement} form */
export const doubt = (number, reason, form) =>
  attempt(async () => {
    await ask("POST /games/{game}/disputes", {
      path,
      body: { number, reason },
      token: token(),
      key: newKey(),
    });
    form.reset();
    await readDoubts();
    say("Your doubt is written down. Its answer will stand here.");
  });

/** Ask for the file with the token, which no address may have, and hand it to the browser. */
export const download = () =>
  attempt(async () => {
    const headers = new Headers(token() ? { Authorization: `Bearer ${token()}` } : {});
    const reply = await fetch(`/v1/games/${game}/file`, { headers });
    if (!reply.ok) throw new Problem(await reply.json().catch(() => ({})), reply.status);
    const address = URL.createObjectURL(await reply.blob());
    const link = Object.assign(document.createElement("a"), {
      href: address,
      download: `${game}.ledgerline`,
    });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  });

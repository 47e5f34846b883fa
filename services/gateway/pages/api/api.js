// The API under /v1, and what this browser knows of its own games.

const KEPT = "ledgerline.games"; // in this browser, for "my games on this device"
const HERE = "ledgerline.game."; // in this tab: several tabs may hold several seats

/** A problem (RFC 9457) that the server answered with: its rule's id and its reason in words. */
export class Problem extends Error {
  constructor(body, status) {
    super(body.detail ?? body.title ?? "The server gave no reason.");
    this.rule = body.rule ?? "";
    this.title = body.title ?? "";
    this.status = status;
  }
}

/** The answer to a request, as JSON. Throws Problem, or TypeError where the server can't be reached. */
export async function ask(path, { method = "GET", body, token, key } = {}) {
  const headers = { Accept: "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (key) headers["Idempotency-Key"] = key;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const reply = await fetch(`/v1${path}`, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const answer = await reply.json().catch(() => ({ title: `The server answered ${reply.status}.` }));
  if (!reply.ok) throw new Problem(answer, reply.status);
  return answer;
}

/** A new id for a command: sent again under the same one, it is never executed twice. */
export const newKey = () => randomHex(12);

export function randomHex(bytes) {
  const drawn = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(drawn, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// -- what this browser knows ---------------------------------------------------------------

function read(storage, name, otherwise) {
  try {
    return JSON.parse(storage.getItem(name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** What this browser holds of its games, by game: { seat, name, token, host, invite }. */
export const myGames = () => read(localStorage, KEPT, {});

/** What it holds of one game. What this tab holds comes first. */
export const held = (game) => ({ ...myGames()[game], ...read(sessionStorage, HERE + game, {}) });

export function hold(game, more) {
  const now = { ...held(game), ...more };
  sessionStorage.setItem(HERE + game, JSON.stringify(now));
  const { invite, ...lasting } = now; // an invitation is of this tab only
  if (lasting.token || lasting.host) {
    const entry = { ...lasting, since: lasting.since ?? Date.now() };
    localStorage.setItem(KEPT, JSON.stringify({ ...myGames(), [game]: entry }));
  }
}

export function forget(game) {
  const { [game]: _, ...others } = myGames();
  localStorage.setItem(KEPT, JSON.stringify(others));
  sessionStorage.removeItem(HERE + game);
}

/** Forget what opened a seat. What the host holds of the game stays. */
export function dropSeat(game) {
  const { host, invitations } = held(game);
  forget(game);
  if (host) hold(game, { host, invitations });
}

/** Free a seat of a game that this browser hosts, and keep the new invitation to it. */
export async function freeSeat(game, seat) {
  const { host, invitations } = held(game);
  const { invitation } = await ask(`/games/${game}/seats/${seat}/free`, { method: "POST", token: host, key: newKey() });
  hold(game, { invitations: [...(invitations ?? []).filter((each) => each.seat !== seat), { seat, invitation }] });
}

/** Move what an invitation's address says after "#" into this tab, and out of the address. */
export function takeInvitation(game) {
  const said = new URLSearchParams(location.hash.slice(1));
  const found = {};
  for (const name of ["invite", "token"]) if (said.get(name)) found[name] = said.get(name);
  if (said.get("seat") !== null && /^\d$/.test(said.get("seat"))) found.invitedTo = Number(said.get("seat"));
  if (Object.keys(found).length) {
    sessionStorage.setItem(HERE + game, JSON.stringify({ ...held(game), ...found }));
    history.replaceState(null, "", location.pathname + location.search);
  }
  return said;
}

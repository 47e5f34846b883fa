// @ts-check
// The API under /v1: every call by the name of its operation, with the types of the OpenAPI document.

/** @import { Calls, Problem as ProblemBody } from "./openapi.js" */

/** A problem (RFC 9457) that the server answered with: its rule's id and its reason in words. */
export class Problem extends Error {
  /** @param {Partial<ProblemBody>} body @param {number} status */
  constructor(body, status) {
    super(body.detail ?? body.title ?? "The server gave no reason.");
    this.rule = body.rule ?? "";
    this.status = status;
  }
}

/**
 * Makes a call, for example "GET /games/{game}/state". Throws Problem, or TypeError where the server can't be reached.
 * @template {keyof Calls} Operation
 * @param {Operation} operation
 * @param {object} [request]
 * @param {Record<string, string | number>} [request.path] what stands for the names in braces
 * @param {Record<string, string>} [request.query]
 * @param {Calls[Operation]["body"]} [request.body]
 * @param {string} [request.token]
 * @param {string} [request.key] sent again under the same one, a command is never executed twice
 * @param {Promise<Response>} [request.begun] the reply, where it is on its way already
 * @returns {Promise<Calls[Operation]["answer"]>}
 */
export async function ask(operation, { path = {}, query = {}, body, token, key, begun } = {}) {
  const [method, pattern] = operation.split(" ");
  const address = pattern.replace(/\{(\w+)\}/g, (_, name) => String(path[name]));
  const search = new URLSearchParams(query).toString();
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (key) headers["Idempotency-Key"] = key;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const reply = await (begun ??
    fetch(`/v1${address}${search && `?${search}`}`, { method, headers, body: sent }));
  const answer = await reply.json().catch(() => ({ title: `The server answered ${reply.status}.` }));
  if (!reply.ok) throw new Problem(answer, reply.status);
  return answer;
}

const BUSY = new Set([429, 503]);
const AGAIN_MS = 2000;
const MOST_TRIES = 15; // with the two seconds between them: half a minute

/**
 * Make a call, and again while the server has no time for it and the answer is still wanted. Throws as the last call.
 * @template T
 * @param {() => Promise<T>} call
 * @param {() => boolean} isWanted
 */
export async function whenFree(call, isWanted) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      const isBusy = error instanceof Problem && BUSY.has(error.status);
      if (!isBusy || tries === MOST_TRIES || !isWanted()) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

/** A new id for a command. */
export const newKey = () => randomHex(12);

/** @param {number} bytes */
export function randomHex(bytes) {
  const drawn = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(drawn, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

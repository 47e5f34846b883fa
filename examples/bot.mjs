// Any legal command, without a kit or the rules, with Node 22: node examples/bot.mjs http://host GAME [INVITATION]
const hex = (/** @type {number} */ n) => Array.from(crypto.getRandomValues(new Uint8Array(n)), (b) => b.toString(16).padStart(2, "0")).join("");

export async function join(/** @type {string} */ url, /** @type {string} */ game, /** @type {string=} */ invitation) {
  const body = JSON.stringify({ name: "random.mjs", contribution: hex(32), ...(invitation && { invitation }) });
  const headers = { "Content-Type": "application/json", "Idempotency-Key": hex(16) };
  const reply = await fetch(`${url}/v1/games/${game}/join`, { method: "POST", headers, body });
  if (!reply.ok) throw new Error((await reply.json()).detail);
  return reply.json();
}

export const play = (/** @type {string} */ url, /** @type {string} */ game, /** @type {string} */ token) => new Promise((done, failed) => {
  let [number, head, problem, waiting, tries] = [0, "", "", /** @type {any} */ (null), 0]; // waiting: the command without a verdict yet
  const connect = () => {
    const address = `${url.replace("http", "ws")}/v1/games/${game}/play?legal=true&after=${number}&head=${head}`;
    const socket = new WebSocket(address, ["ledgerline", `token.${token}`]);
    const send = () => socket.send(JSON.stringify(waiting)); // its id sent again never makes a second command
    socket.onopen = () => waiting && send();
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.type === "problem") problem = message.problem.detail;
      if (message.type === "unknown" || message.problem?.retry_after) setTimeout(() => waiting && send(), 1000);
      if (message.type !== "entry" || message.number <= number) return;
      [number, head, tries] = [message.number, message.head, 0];
      if (message.answers === waiting?.id) waiting = null;
      const ended = message.events.find((/** @type {{ type: string }} */ event) => event.type === "game_ended");
      if (ended) return (socket.onclose = null), socket.close(), done(ended.scores);
      if (!message.legal || waiting) return;
      waiting = { id: hex(12), command: message.legal[Math.floor(Math.random() * message.legal.length)] };
      send();
    };
    socket.onclose = ({ code, reason }) => {
      if (code === 4002) [number, head] = [0, ""]; // the server lost entries that we have: begin anew
      return code === 1000 || code === 1008 ? failed(new Error(problem || reason)) : setTimeout(connect, 250 * 2 ** Math.min(tries++, 6) * (1 + Math.random()));
    };
  };
  connect();
});
const [, file, url, game, invitation] = /** @type {any} */ (globalThis).process?.argv ?? []; // where it is the program of Node
if (file?.endsWith("bot.mjs")) join(url, game, invitation).then(({ token }) => play(url, game, token)).then(console.log);

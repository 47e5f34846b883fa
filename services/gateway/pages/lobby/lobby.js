// The lobby: my games, open tables, games that are played and over, and the form that makes a table.
import { html, nothing, render } from "../vendor/lit-html/lit-html.js";
import { ask, dropSeat, forget, freeSeat, hold, myGames, newKey, Problem, randomHex } from "../api/api.js";
import { createForm } from "./create_form.js";
import { ago, reason, seatName } from "../shared/words.js";

const root = document.getElementById("page");
root.replaceChildren();
const POLL_MS = 5000;

/** How a game stands: who waits and since when, whose turn it is, who won. */
function standing(game) {
  const since = ago(Date.now() - game.created);
  const people = game.seats.filter((seat) => !seat.free && seat.kind === "human").map((seat) => seat.name);
  if (game.status === "waiting") {
    const who = people.length ? `${people.join(" and ")} ${people.length > 1 ? "wait" : "waits"}` : "It waits";
    return game.free ? `${who} for ${game.free} more · made ${since}` : `everybody is here, and it can start · made ${since}`;
  }
  if (game.status === "playing") return `${game.turn === null ? "tickets are chosen" : `${game.seats[game.turn].name} is to move`} · made ${since}`;
  const most = Math.max(...game.seats.map((seat) => seat.total ?? 0));
  return `${game.seats.filter((seat) => seat.total === most).map((seat) => seat.name).join(" and ")} won with ${most} · made ${since}`;
}

class Lobby {
  constructor() {
    this.games = null;
    this.away = false;
    this.missing = undefined;
    this.refusal = null;
    this.freeing = null; // the seat that its host is about to free
    this.form = new CreateChoices(() => this.draw());
  }

  async begin() {
    this.draw();
    await Promise.all([this.form.begin(), this.poll()]);
  }

  async poll() {
    await this.read();
    setTimeout(() => this.poll(), POLL_MS);
  }

  async read() {
    try {
      const { games, missing } = await ask("/games?most=60");
      const mine = Object.keys(myGames()).filter((game) => !games.some((row) => row.game === game));
      const more = await Promise.all(mine.map((game) => this.find(game)));
      this.games = [...games, ...more.filter(Boolean)];
      this.away = false;
      this.missing = missing;
    } catch (error) {
      this.away = !(error instanceof Problem);
    }
    this.draw();
  }

  /** A game of mine that is in no list. */
  async find(game) {
    try {
      const state = await ask(`/games/${game}/state`, { token: myGames()[game].token });
      const seats = state.seats.map((seat) => ({ ...seat, free: !seat.seated, total: null }));
      return { ...state, seats, board_title: state.board, free: seats.filter((seat) => seat.free).length };
    } catch (error) {
      if (error instanceof Problem && error.status === 404) forget(game);
      if (error instanceof Problem && error.status === 401) dropSeat(game);
      return null;
    }
  }

  row(game, action) {
    const mine = myGames()[game.game];
    const turn = mine?.seat !== undefined && game.status === "playing" && game.turn === mine.seat;
    return html`<li class="game"><div><b>${this.form.boards?.find((board) => board.id === game.board)?.title ?? game.board_title}</b><span class="note">${game.ruleset} rules · ${standing(game)}</span>
      <p class="people">${game.seats.map((seat) => html`<span class=${seat.free ? "free" : ""}>${seat.free ? "free" : seat.name}${seat.total === null ? nothing : html` <b>${seat.total}</b>`}</span>`)}</p>${this.hostActions(game)}</div>
      ${turn ? html`<span class="your-turn">your turn</span>` : nothing}
      <a class="button" href="/table/${game.game}" aria-label=${`${action}: ${game.board_title}, ${game.game}`}>${action}</a></li>`;
  }

  /** What the host of a table that waits may do: free the seats of others, each after a second question. */
  hostActions(game) {
    const mine = myGames()[game.game];
    if (!mine?.host || game.status !== "waiting") return nothing;
    return html`<p class="host">${game.seats.filter((seat) => !seat.free && seat.seat !== mine.seat).map((seat) => {
      const isAsked = this.freeing?.game === game.game && this.freeing.seat === seat.seat;
      return isAsked ? html`<span>Free the seat of ${seatName(seat)}? <button type="button" class="primary" @click=${() => this.free(game.game, seat.seat)}>Free it</button>
        <button type="button" class="quiet" @click=${() => this.askFree(null)}>No</button></span>`
        : html`<button type="button" class="quiet" @click=${() => this.askFree({ game: game.game, seat: seat.seat })}>Free the seat of ${seatName(seat)} …</button>`;
    })}</p>`;
  }

  askFree(freeing) {
    this.freeing = freeing;
    this.draw();
  }

  async free(game, seat) {
    this.freeing = null;
    this.refusal = null;
    try {
      await freeSeat(game, seat);
    } catch (error) {
      this.refusal = error instanceof Problem ? reason(error) : "The server can't be reached now. Try again.";
    }
    await this.read();
  }

  list(title, games, action, empty) {
    return html`<section class="panel"><h2>${title}</h2>${games.length ? html`<ul class="games">${games.map((game) => this.row(game, action(game)))}</ul>`
      : html`<p class="empty">${empty}</p>`}</section>`;
  }

  draw() {
    const mine = myGames();
    const games = this.games ?? [];
    const of = (status) => games.filter((game) => game.status === status && !(game.game in mine));
    render(html`<header class="top"><a class="home" href="/"><img src="/assets/shared/favicon.svg" alt="" width="28" height="28">Ledgerline</a>
      <nav><a href="/rules">Rules</a> <a href="/docs">API</a></nav></header>
      ${this.away ? html`<p class="banner away">The server can't be reached. Trying again.</p>` : nothing}
      ${this.refusal ? html`<p class="banner refusal"><b>Refused.</b> ${this.refusal}</p>` : nothing}
      ${this.missing ? html`<p class="banner away">Some games aren't listed now. Trying again.</p>` : nothing}
      <main id="main" class="lobby"><div class="intro"><h1>Train games, around one table</h1>
        <p>Make a table, send your friends a link, add bots, play. Every game can be watched again, and proven fair.</p></div>
      <div class="lists">
        ${this.list("My games on this device", games.filter((game) => game.game in mine), (game) => (game.status === "over" ? "See again" : "Open"), "None yet: make a table, or sit down at one.")}
        ${this.list("Open tables", of("waiting"), (game) => (game.free ? "Sit down" : "Look"), "No open table.")}
        ${this.list("Being played", of("playing"), () => "Watch", "No public game is being played.")}
        ${this.list("Over", of("over"), () => "See again", "No public game is over yet.")}</div>
      <section class="panel make" aria-labelledby="make-title"><h2 id="make-title">Make a table</h2>${createForm(this.form)}</section></main>`, root);
  }
}

/** What is chosen in the form so far. */
class CreateChoices {
  constructor(changed) {
    Object.assign(this, {
      changed, rulesets: null, boards: null, clocks: null, board: "usa", ruleset: "usa", seats: ["", "greedy"], clock: "evening",
      door: "link", suggestions: true, options: {}, refusal: null, busy: false, sits: true, name: localStorage.getItem("ledgerline.name") ?? "",
    });
  }

  async begin() {
    const [rules, boards] = await Promise.all([ask("/rulesets"), ask("/boards")]);
    this.set({ rulesets: rules.rulesets, clocks: rules.clocks, boards: boards.boards });
  }

  set(more) {
    Object.assign(this, more);
    this.changed();
  }

  setBoard(board) {
    const ruleset = this.rulesets.find((each) => each.name === board.ruleset);
    const seats = this.seats.slice(0, ruleset.seats_most).map((seat) => (ruleset.policies.includes(seat) ? seat : ""));
    while (seats.length < ruleset.seats_least) seats.push("");
    this.set({ board: board.id, ruleset: board.ruleset, seats, options: {} });
  }

  setSeat(place, policy) {
    this.set({ seats: this.seats.map((seat, i) => (i === place ? policy : seat)) });
  }

  addSeat() {
    this.set({ seats: [...this.seats, ""] });
  }

  dropSeat() {
    this.set({ seats: this.seats.slice(0, -1) });
  }

  setClock(clock) {
    this.set({ clock });
  }

  setDoor(door) {
    this.set({ door });
  }

  setSuggestions(suggestions) {
    this.set({ suggestions });
  }

  setName(name) {
    this.name = name;
  }

  setOption(name, value) {
    const { [name]: _, ...others } = this.options;
    this.set({ options: value === undefined ? others : { ...others, [name]: value } });
  }

  parse(text) {
    try {
      return JSON.parse(text);
    } catch {
      return text; // the server says what is wrong with it
    }
  }

  body() {
    const seats = this.seats.map((policy) => (policy ? { kind: "bot", policy } : { kind: "human" }));
    const people = seats.some((seat) => seat.kind === "human");
    return {
      board: this.board, ruleset: this.ruleset, seats, clock: this.clock,
      ...(this.door === "public" ? { visibility: "public" } : { visibility: "unlisted", by_invitation: people }),
      ...(this.suggestions ? {} : { suggestions: false }),
      ...(Object.keys(this.options).length ? { options: this.options } : {}),
    };
  }

  async submit(event) {
    event.preventDefault();
    this.set({ busy: true, refusal: null });
    try {
      const created = await ask("/games", { method: "POST", body: this.body(), key: newKey() });
      hold(created.game, { host: created.token, invitations: created.invitations ?? [] });
      await this.sitDown(created);
      location.href = `/table/${created.game}`;
    } catch (error) {
      this.set({ busy: false, refusal: error instanceof Problem ? reason(error) : "The server can't be reached now. Try again." });
    }
  }

  /** Take the first seat that is for a person. */
  async sitDown({ game, invitations }) {
    const seat = this.seats.indexOf("");
    if (seat < 0) return;
    const invitation = (invitations ?? []).find((each) => each.seat === seat)?.invitation;
    const body = { name: this.name.trim(), seat, contribution: randomHex(32), ...(invitation ? { invitation } : {}) };
    const joined = await ask(`/games/${game}/join`, { method: "POST", body, key: newKey() });
    localStorage.setItem("ledgerline.name", body.name);
    hold(game, { token: joined.token, seat: joined.seat, name: body.name });
  }
}

new Lobby().begin();

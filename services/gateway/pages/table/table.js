// The page of a table: it asks for the folded view, shows it, and sends what the viewer chooses. It decides nothing.
import { html, render } from "../vendor/lit-html/lit-html.js";
import { ofType } from "./actions_view.js";
import { ask, dropSeat, hold, held, newKey, Problem, randomHex, takeInvitation } from "../api/api.js";
import { animate } from "./animation.js";
import { Connection, readState } from "../api/connection.js";
import { Replay } from "./replay.js";
import { Sounds } from "./sounds.js";
import { header, page } from "./table_view.js";
import { reason } from "../shared/words.js";

const game = location.pathname.split("/")[2];
const root = document.getElementById("page");
const live = document.getElementById("live");
root.replaceChildren();

class Table {
  constructor() {
    Object.assign(this, {
      game, state: null, drawing: null, legal: [], seen: [], kept: new Set(), dialog: null, replay: null, pinned: null,
      marked: null, refusal: null, notice: null, busy: false, link: { open: true }, sealed: null, cityNames: new Map(),
      name: localStorage.getItem("ledgerline.name") ?? "", readAt: performance.now(), last: 0,
      sounds: new Sounds(),
    });
  }

  get mine() {
    return held(game);
  }

  // -- reading -----------------------------------------------------------------------------

  async begin() {
    const said = takeInvitation(game);
    try {
      const drawing = ask(`/games/${game}/board`, { token: this.mine.token });
      [this.drawing] = await Promise.all([drawing, this.refresh(true)]);
      this.cityNames = new Map(this.drawing.cities.map((city) => [city.id, city.name]));
    } catch (error) {
      return this.fail(error);
    }
    this.connection = new Connection(game, this.state.number, this.state.head, {
      entry: (number) => this.last < number && this.refresh(),
      anew: () => this.refresh(true),
      state: (link) => this.linked(link),
      sealed: (sealed) => this.update({ sealed }),
    });
    setInterval(() => this.draw(), 1000); // clocks, and how old the view is
    this.draw();
    addEventListener("storage", () => this.changedElsewhere());
    if (Number(said.get("at"))) this.startReplay(Number(said.get("at")), said.get("as"));
  }

  /** Another tab sat down, or forgot the game: go on with what this browser knows now. */
  changedElsewhere() {
    if (this.token === this.mine.token) return;
    this.connection.renew();
    this.refresh(true).catch(() => {});
  }

  /** Read the table and what is legal. A read that has begun may be older than this call: then once more after it, for all such calls. */
  refresh(anew = false) {
    this.anew ||= anew;
    if (this.reading) {
      this.next ??= this.reading.catch(() => {}).then(() => this.refresh());
      return this.next;
    }
    this.next = null;
    this.reading = this.read(this.anew).finally(() => (this.reading = null));
    this.anew = false;
    return this.reading;
  }

  async read(anew) {
    const since = anew || !this.seen.length ? 0 : this.last;
    const { token } = this.mine;
    this.token = token;
    const asked = { since, ...(token ? { legal: true } : {}) };
    const state = await readState(game, asked).catch((error) => this.lostSeat(error, since));
    this.seen = since ? [...this.seen, ...state.moves] : state.moves;
    if (!this.replay) this.latest = new Set(since ? state.moves.flatMap((move) => move.routes) : []);
    if (since) this.announce(state);
    this.last = state.number;
    this.legal = state.legal ?? [];
    if (this.legal.every((offer) => offer.command.type !== "keep_tickets")) this.kept = new Set();
    this.now = state;
    this.readAt = performance.now();
    if (!this.replay) this.state = state;
    this.draw();
  }

  /** The seat was freed, or its token withdrawn: go on as one who watches. */
  lostSeat(error, since) {
    if (!(error instanceof Problem && error.status === 401 && this.mine.token)) throw error;
    dropSeat(game);
    this.token = undefined;
    this.notice = { text: "You don't hold a seat here any more: the host has freed it, or its token was withdrawn." };
    this.connection?.renew();
    return readState(game, { since });
  }

  passedMs() {
    return this.state.age_ms + performance.now() - this.readAt;
  }

  /** Say what is new, in words, and by a tone where tones are on. */
  announce(state) {
    const text = state.moves.flatMap((move) => move.text).join(" ");
    if (text) live.textContent = text;
    const acts = (table) => table?.seats[table.viewer]?.choice != null;
    if (acts(state) && !acts(this.now)) this.sounds.play("turn");
    else if (state.moves.some((move) => move.seat !== state.viewer)) this.sounds.play("move");
  }

  linked(link) {
    this.link = link.open ? link : { ...link, since: this.link.since ?? Date.now() };
    if (link.open || link.isVoid) this.refresh().catch(() => {}); // a token that is void gives way to none
    this.draw();
  }

  // -- acting ------------------------------------------------------------------------------

  async attempt(action) {
    this.update({ busy: true, refusal: null });
    try {
      return await action();
    } catch (error) {
      this.refuse(error);
    } finally {
      this.update({ busy: false });
    }
    return undefined;
  }

  send(command) {
    this.closeDialog();
    const key = newKey(); // the same for a second try: it is executed once
    const post = () => ask(`/games/${game}/commands`, { method: "POST", body: command, token: this.mine.token, key });
    return this.attempt(async () => {
      const { number } = await post().catch((error) => (error instanceof Problem ? Promise.reject(error) : post()));
      if (this.last < number) await this.refresh();
    });
  }

  join(event, seat) {
    event.preventDefault();
    const name = new FormData(event.target).get("name").trim();
    return this.attempt(async () => {
      const { invite } = this.mine;
      const body = { name, seat, contribution: randomHex(32), ...(invite ? { invitation: invite } : {}) };
      const joined = await ask(`/games/${game}/join`, { method: "POST", body, key: newKey() });
      localStorage.setItem("ledgerline.name", name);
      hold(game, { token: joined.token, seat: joined.seat, name, invite: undefined });
      this.connection.renew();
      await this.refresh(true);
    });
  }

  start() {
    const { token, host } = this.mine;
    return this.attempt(async () => {
      await ask(`/games/${game}/start`, { method: "POST", token: host ?? token, key: newKey() });
      await this.refresh();
    });
  }

  async copyInvitation(seat) {
    const invitation = (this.mine.invitations ?? []).find((each) => each.seat === seat)?.invitation;
    const said = new URLSearchParams({ seat, ...(invitation ? { invite: invitation } : {}) });
    await this.copy(`${location.origin}/table/${game}#${said}`, `The invitation to seat ${"ABCDEFGH"[seat]}`);
  }

  copyMoment() {
    return this.copy(this.replay.link(), "The link to this moment");
  }

  async copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
      this.update({ notice: { text: `${what} is copied.`, link: text } });
    } catch {
      this.update({ notice: { text: `${what}:`, link: text } });
    }
  }

  refuse(error) {
    const known = error instanceof Problem;
    this.refusal = known ? { text: reason(error), rule: error.rule } : { text: "The server can't be reached now. Try again.", rule: "" };
    live.textContent = `Refused: ${this.refusal.text}`;
  }

  // -- choosing and pointing ------------------------------------------------------------------

  update(more) {
    Object.assign(this, more);
    this.draw();
  }

  toggleSounds() {
    this.sounds.toggle();
    this.draw();
  }

  choose(name, question, offers, action = null) {
    this.update({ dialog: { name, question, offers, action } });
    const dialog = root.querySelector("dialog");
    if (!dialog.open) dialog.showModal();
  }

  closeDialog() {
    const dialog = root.querySelector("dialog");
    if (dialog?.open) dialog.close();
    if (this.dialog) this.update({ dialog: null, marked: null });
  }

  confirmLeave(offer) {
    this.choose("Leave the game?", "Your seat takes no further part. This can't be undone.", [offer]);
  }

  onRoute(route) {
    const offers = ofType(this.legal, "claim_route").filter((offer) => offer.command.route === route);
    if (offers.length) this.choose("Claim this route", "Paid with what?", offers);
  }

  onCity(city) {
    const offers = this.legal.filter((offer) => offer.command.city === city);
    if (offers.length) this.choose(this.cityNames.get(city), "What do you do here?", offers);
  }

  toggleKept(place) {
    if (!this.kept.delete(place)) this.kept.add(place);
    this.draw();
  }

  mark(ticket) {
    this.update({ marked: ticket });
  }

  pin(ticket) {
    this.update({ pinned: this.pinned === ticket.id ? null : ticket.id, marked: ticket });
  }

  /** Show on the board what a command is about. */
  markOffer({ route, city, path }) {
    this.update({ marked: { way: [route, ...(path ?? [])].filter(Boolean), ends: city ? [city] : [] } });
  }

  // -- replay ----------------------------------------------------------------------------------

  get moves() {
    return this.replay?.moves ?? this.seen;
  }

  startReplay(at, as = null) {
    this.replay = new Replay(this, at, as);
    return as === null ? this.replay.seek(at) : this.replay.seeAs(as);
  }

  endReplay() {
    this.update({ replay: null, state: this.now, latest: new Set() });
  }

  // -- drawing ---------------------------------------------------------------------------------

  fail(error) {
    const text = error instanceof Problem ? reason(error) : "The server can't be reached.";
    render(html`${header(this)}<main id="main" class="alone"><h1>This table can't be shown</h1><p>${text}</p><p><a href="/">To the lobby</a></p></main>`, root);
  }

  /** Show what is known. What loses the focus by that asks for another drawing, which comes after this one. */
  draw() {
    if (!this.state || !this.drawing) return;
    if (this.rendering) {
      this.redraw = true;
      return;
    }
    const hadFocus = root.contains(document.activeElement);
    this.rendering = true;
    render(page(this), root);
    this.rendering = false;
    if (this.drawn !== this.state) animate(this.drawn, this.state, root);
    this.drawn = this.state;
    if (hadFocus && document.activeElement === document.body) root.querySelector("#actions-title")?.focus();
    if (this.redraw) {
      this.redraw = false;
      queueMicrotask(() => this.draw());
    }
  }
}

const table = new Table();
table.begin();

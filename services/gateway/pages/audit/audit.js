// The page of an audit: what was checked of a game, a move explained, doubts and their answers, and the file.
import { html, render } from "../vendor/lit-html/lit-html.js";
import { ask, held, newKey, Problem, takeInvitation } from "../api/api.js";
import { auditPage, top } from "./audit_view.js";
import { firstHead, nextHead, provenBytes, readState } from "../api/connection.js";
import { reason } from "../shared/words.js";

const game = location.pathname.split("/")[2];
const root = document.getElementById("page");
const live = document.getElementById("live");
root.replaceChildren();
const AGAIN_MS = 1500; // a game is in the archive a little later than it is over, and a doubt is answered a little later
const MOST_DOUBTS = 20; // whose answers are shown

class AuditPage {
  constructor() {
    Object.assign(this, { game, table: null, audit: null, chain: null, doubts: [], at: null, busy: false, refusal: null });
  }

  get token() {
    return held(game).token;
  }

  get sits() {
    return held(game).seat !== undefined && this.token !== undefined;
  }

  async begin() {
    const said = takeInvitation(game);
    try {
      this.table = await readState(game, { since: 0 });
    } catch (error) {
      return this.fail(error);
    }
    this.at = Number(said.get("at")) || null;
    addEventListener("hashchange", () => this.explain(Number(new URLSearchParams(location.hash.slice(1)).get("at")) || null));
    this.draw();
    return Promise.all([this.readAudit(), this.checkChain(), this.readDoubts()]);
  }

  /** The audit, with the entry explained that was asked for. It is there once the game is over and in the archive. */
  async readAudit() {
    if (this.table.status !== "over") return undefined;
    const wanted = this.at;
    try {
      const audit = await ask(`/games/${game}/audit${wanted ? `?at=${wanted}` : ""}`, { token: this.token });
      if (wanted === this.at) this.update({ audit, refusal: null });
    } catch (error) {
      if (error instanceof Problem && error.status === 503) return setTimeout(() => this.readAudit(), AGAIN_MS);
      this.refuse(error);
    }
    return undefined;
  }

  explain(at) {
    if (at === this.at) return undefined;
    this.at = at;
    return this.readAudit();
  }

  choose(event) {
    event.preventDefault();
    const at = new FormData(event.target).get("at");
    history.replaceState(null, "", `#at=${at}`);
    return this.explain(Number(at));
  }

  /** Check the hash chain of all entries here, from the very bytes. */
  async checkChain() {
    if (!crypto.subtle) return;
    try {
      let [number, head, more] = [0, await firstHead(game), true];
      while (more) {
        const page = await ask(`/games/${game}/view?after=${number}&proofs=true`, { token: this.token });
        for (const entry of page.entries) {
          const isNext = (await nextHead(head, entry.number, provenBytes(entry))) === entry.head;
          if (!isNext) return this.update({ chain: { number: entry.number, broken: true } });
          [number, head] = [entry.number, entry.head];
        }
        more = page.more && page.entries.length > 0;
      }
      this.update({ chain: { number, broken: false } });
    } catch (error) {
      this.refuse(error);
    }
  }

  // -- doubts ------------------------------------------------------------------------------

  async readDoubts() {
    if (!this.sits) return;
    try {
      const { disputes } = await ask(`/games/${game}/disputes`, { token: this.token });
      const shown = disputes.slice(0, MOST_DOUBTS);
      const doubts = await Promise.all(shown.map((each) => ask(each.address, { token: this.token })));
      this.update({ doubts });
      if (doubts.some((each) => !each.answer && !each.final)) setTimeout(() => this.readDoubts(), AGAIN_MS);
    } catch (error) {
      this.refuse(error);
    }
  }

  async doubt(event) {
    event.preventDefault();
    const { target } = event;
    const said = new FormData(target);
    const body = { number: Number(said.get("number")), reason: said.get("reason").trim() };
    this.update({ busy: true, refusal: null });
    try {
      await ask(`/games/${game}/disputes`, { method: "POST", body, token: this.token, key: newKey() });
      target.reset();
      await this.readDoubts();
      live.textContent = "Your doubt is written down. Its answer will stand here.";
    } catch (error) {
      this.refuse(error);
    }
    this.update({ busy: false });
  }

  // -- the file ----------------------------------------------------------------------------

  /** Ask for the file with the token, which no address may hold, and hand it to the browser. */
  async download() {
    this.update({ busy: true, refusal: null });
    try {
      const headers = this.token ? { Authorization: `Bearer ${this.token}` } : {};
      const reply = await fetch(`/v1/games/${game}/file`, { headers });
      if (!reply.ok) throw new Problem(await reply.json().catch(() => ({})), reply.status);
      const address = URL.createObjectURL(await reply.blob());
      const link = Object.assign(document.createElement("a"), { href: address, download: `${game}.ledgerline` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), 60000);
    } catch (error) {
      this.refuse(error);
    }
    this.update({ busy: false });
  }

  // -- showing -----------------------------------------------------------------------------

  refuse(error) {
    const refusal = error instanceof Problem ? reason(error) : "The server can't be reached now. Try again.";
    live.textContent = refusal;
    this.update({ refusal });
  }

  fail(error) {
    const text = error instanceof Problem ? reason(error) : "The server can't be reached.";
    render(html`${top(null)}<main id="main" class="alone"><h1>This game can't be audited</h1><p>${text}</p><p><a href="/">To the lobby</a></p></main>`, root);
  }

  update(more) {
    Object.assign(this, more);
    this.draw();
  }

  draw() {
    render(auditPage(this), root);
  }
}

new AuditPage().begin();

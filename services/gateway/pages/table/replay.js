// A game looked back through: one entry after the other, at a speed, by turns, as any seat saw it once the game is over.
import { readState } from "../api/connection.js";

const PAUSE_MS = 1500; // between entries, at speed 1
const MOST_KEPT = 200; // tables that were read

export class Replay {
  constructor(app, at, as = null) {
    Object.assign(this, { app, at, as, speed: 3, plays: false, kept: new Map(), moves: null });
  }

  /** Show the table after an entry. */
  async seek(at) {
    const { app } = this;
    this.at = Math.max(1, Math.min(app.last, at));
    app.draw();
    const [wanted, as] = [this.at, this.as];
    try {
      const state = await this.read(wanted, as);
      if (app.replay !== this || this.at !== wanted || this.as !== as) return;
      app.update({ state, latest: new Set(app.moves.find((move) => move.number === wanted)?.routes) });
      if (this.plays && wanted < app.last) this.read(wanted + 1, as).catch(() => {});
    } catch (error) {
      this.plays = false;
      app.refuse(error);
      app.draw();
    }
  }

  read(at, as, more = {}) {
    const key = `${as} ${at} ${JSON.stringify(more)}`;
    if (!this.kept.has(key)) {
      if (this.kept.size >= MOST_KEPT) this.kept.delete(this.kept.keys().next().value);
      const reading = readState(this.app.game, { at, ...(as === null ? {} : { as }), ...more });
      reading.catch(() => this.kept.delete(key));
      this.kept.set(key, reading);
    }
    return this.kept.get(key);
  }

  /** See it as a seat did, or the public; null: as oneself. */
  async seeAs(as) {
    this.as = as;
    try {
      this.moves = as === null ? null : (await this.read(this.app.last, as, { since: 0 })).moves;
    } catch (error) {
      this.as = null;
      this.app.refuse(error);
    }
    await this.seek(this.at);
  }

  play() {
    this.plays = !this.plays;
    if (this.plays && this.at >= this.app.last) this.at = 0;
    this.app.draw();
    this.tick();
  }

  async tick() {
    if (!this.plays || this.app.replay !== this) return;
    if (this.at >= this.app.last) {
      this.plays = false;
      return this.app.draw();
    }
    await this.seek(this.at + 1);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.tick(), PAUSE_MS / this.speed);
  }

  setSpeed(speed) {
    this.speed = speed;
    this.app.draw();
  }

  /** The first entry of each turn. */
  turns() {
    const { moves } = this.app;
    return moves.filter((move, place) => move.turn > 0 && moves[place - 1]?.turn !== move.turn);
  }

  /** To the turn before or after. */
  jumpTurn(step) {
    const starts = this.turns().map((move) => move.number);
    const next = step > 0 ? starts.find((number) => number > this.at) : starts.findLast((number) => number < this.at);
    return this.seek(next ?? (step > 0 ? this.app.last : 1));
  }

  /** The move of a seat that earned the most points; undefined where none earned any. */
  best(seat) {
    const earning = this.app.moves.filter((move) => move.seat === seat && move.points > 0);
    return earning.sort((a, b) => b.points - a.points)[0];
  }

  /** The address of this moment. */
  link() {
    const said = new URLSearchParams({ at: this.at, ...(this.as === null ? {} : { as: this.as }) });
    return `${location.origin}/table/${this.app.game}#${said}`;
  }
}

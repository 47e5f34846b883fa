// Short tones, off until they are asked for. They are made here: there is no file to load.

const KEPT = "ledgerline.sounds";
const TONES = { turn: [523, 784], move: [392] }; // hertz, one after the other
const LENGTH_S = 0.16;

export class Sounds {
  constructor() {
    this.on = localStorage.getItem(KEPT) === "on";
  }

  toggle() {
    this.on = !this.on;
    localStorage.setItem(KEPT, this.on ? "on" : "off");
    this.play("turn");
  }

  /** Sound the tones of an occasion: "turn" or "move". */
  play(occasion) {
    if (!this.on) return;
    this.audio ??= new AudioContext();
    TONES[occasion].forEach((hertz, place) => this.tone(hertz, this.audio.currentTime + place * LENGTH_S));
  }

  tone(hertz, at) {
    const [tone, volume] = [this.audio.createOscillator(), this.audio.createGain()];
    tone.frequency.value = hertz;
    volume.gain.setValueAtTime(0.0001, at);
    volume.gain.exponentialRampToValueAtTime(0.08, at + 0.02);
    volume.gain.exponentialRampToValueAtTime(0.0001, at + LENGTH_S);
    tone.connect(volume).connect(this.audio.destination);
    tone.start(at);
    tone.stop(at + LENGTH_S);
  }
}

// @ts-check
// Short tones, off until they are asked for. They are made here: there is no file to load.
import { page, update } from "../table/table_state.js";

const SETTING = "ledgerline.sounds";
const TONES = { turn: [523, 784], move: [392] }; // hertz, one after the other
const LENGTH_S = 0.16;

/** @type {AudioContext | undefined} */
let audio;
page.hasSounds = localStorage.getItem(SETTING) === "on";

export function toggleSounds() {
  const hasSounds = !page.hasSounds;
  localStorage.setItem(SETTING, hasSounds ? "on" : "off");
  update({ hasSounds });
  sound("turn");
}

/** Sound the tones of an occasion, where tones are on. @param {keyof typeof TONES} occasion */
export function sound(occasion) {
  if (!page.hasSounds) return;
  audio ??= new AudioContext();
  for (const [place, hertz] of TONES[occasion].entries())
    soundTone(audio, hertz, audio.currentTime + place * LENGTH_S);
}

/** @param {AudioContext} context @param {number} hertz @param {number} at */
function soundTone(context, hertz, at) {
  const [tone, volume] = [context.createOscillator(), context.createGain()];
  tone.frequency.value = hertz;
  volume.gain.setValueAtTime(0.0001, at);
  volume.gain.exponentialRampToValueAtTime(0.08, at + 0.02);
  volume.gain.exponentialRampToValueAtTime(0.0001, at + LENGTH_S);
  tone.connect(volume).connect(context.destination);
  tone.start(at);
  tone.stop(at + LENGTH_S);
}

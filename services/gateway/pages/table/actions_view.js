// What the seat may do now: every legal command is a button here. The page knows no rules; it groups what it was sent.
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { card, cards } from "../board/marks.js";
import { plural, upperFirst } from "../shared/words.js";

const CHOOSERS = [
  ["claim_route", "Claim a route", "Which route, and paid with what?"],
  ["build_station", "Build a station", "Where, and paid with what?"],
  ["move_passenger", "Move a passenger", "Which way?"],
  ["draw_tickets", "Draw tickets", "Which tickets?"],
  ["pay_tunnel", "Pay for the tunnel", "Paid with what?"],
];
const PLACED = new Set(["draw_market", "keep_tickets", "leave", ...CHOOSERS.map(([type]) => type)]);

export const ofType = (legal, type) => (legal ?? []).filter((offer) => offer.command.type === type);

/** Offers by their title, in the order in which they came. */
export function byTitle(offers) {
  const groups = new Map();
  for (const offer of offers) groups.set(offer.title, [...(groups.get(offer.title) ?? []), offer]);
  return groups;
}

const button = (app, offer, content, kind = "") => html`<button type="button" class=${kind} ?disabled=${app.busy}
  aria-label=${upperFirst(offer.text)} @click=${() => app.send(offer.command)}>${content}</button>`;

const offered = (offer) => (offer.command.cards
  ? html`${cards(offer.command.cards)}${offer.command.passenger ? html`<span class="note">with a passenger</span>` : nothing}`
  : upperFirst(offer.detail || offer.text));

function chooser(app, [type, name, question]) {
  const offers = ofType(app.legal, type);
  if (!offers.length) return nothing;
  if (offers.length === 1) return button(app, offers[0], upperFirst(offers[0].text), "primary");
  const titles = new Set(offers.map((offer) => offer.title)).size;
  return html`<button type="button" class="primary" ?disabled=${app.busy} @click=${() => app.choose(name, question, offers)}>
    ${name}<span class="tally">${type === "claim_route" ? titles : offers.length}</span></button>`;
}

/** The cards face up, and the deck: those that may be drawn are buttons. */
export function marketView(app) {
  const { state } = app;
  const slots = new Map(ofType(app.legal, "draw_market").map((offer) => [offer.command.slot, offer]));
  const blind = ofType(app.legal, "draw_blind")[0];
  const deck = html`<span class="pile" aria-hidden="true"></span><span class="card-name">Deck</span><span class="count">${state.deck}</span>`;
  return html`<ul class="market">
    <li>${blind ? html`<button type="button" class="card deck" ?disabled=${app.busy} aria-label=${`Draw blind from the deck of ${state.deck}`}
        @click=${() => app.send(blind.command)}>${deck}</button>` : html`<span class="card deck">${deck}</span>`}</li>
    ${state.market.map((color, slot) => html`<li>${color === null ? html`<span class="card gap">gap</span>`
      : slots.has(slot) ? html`<button type="button" class="bare" ?disabled=${app.busy} aria-label=${`Take ${color} from the market, place ${slot + 1}`}
          @click=${() => app.send(slots.get(slot).command)}>${card(color)}</button>` : card(color)}</li>`)}
  </ul>`;
}

function ticketsToKeep(app) {
  const offers = ofType(app.legal, "keep_tickets");
  if (!offers.length) return nothing;
  const chosen = [...app.kept].sort((a, b) => a - b);
  const same = (offer) => offer.command.keep.length === chosen.length && offer.command.keep.every((place, i) => place === chosen[i]);
  const offer = offers.find(same);
  const sizes = offers.map((each) => each.command.keep.length);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  const cityName = (id) => app.cityNames.get(id) ?? id;
  return html`<fieldset class="offer"><legend>Which tickets do you keep? ${least === most ? `Exactly ${least}` : `${least} to ${most}`}.</legend>
    ${app.state.offer.map((ticket, place) => html`<label class="ticket" @mouseenter=${() => app.mark(ticket)} @mouseleave=${() => app.mark(null)}>
      <input type="checkbox" .checked=${app.kept.has(place)} @change=${() => app.toggleKept(place)} @focus=${() => app.mark(ticket)} @blur=${() => app.mark(null)}>
      <span class="ends">${cityName(ticket.a)} – ${cityName(ticket.b)}</span>
      <span class="deck-name">${ticket.deck}</span><b>${ticket.points}</b></label>`)}
    <button type="button" class="primary" ?disabled=${app.busy || !offer} @click=${() => app.send(offer.command)}>
      Keep ${plural(chosen.length, "ticket")}</button></fieldset>`;
}

/** The panel of actions. */
export function actionsView(app) {
  const { legal, state } = app;
  const own = state.seats[state.viewer];
  if (!own || state.status !== "playing" || app.replay) return nothing;
  const plain = legal.filter((offer) => !PLACED.has(offer.command.type) && offer.command.type !== "draw_blind");
  const blind = ofType(legal, "draw_blind");
  const leave = ofType(legal, "leave")[0];
  const acts = legal.some((offer) => offer.command.type !== "leave");
  return html`<section class="panel actions" aria-labelledby="actions-title"><h2 id="actions-title" tabindex="-1">${acts ? "Your move" : "Wait for the others"}</h2>
    ${state.tunnel ? html`<p>The tunnel asks for <b>${plural(state.tunnel.extra, "card")}</b> more; turned up: ${state.tunnel.revealed.map((color) => card(color))}</p>` : nothing}
    ${ticketsToKeep(app)}
    <div class="buttons">
      ${blind.map((offer) => button(app, offer, upperFirst(offer.text), "primary"))}
      ${CHOOSERS.map((each) => chooser(app, each))}
      ${plain.map((offer) => button(app, offer, upperFirst(offer.text), "primary"))}
    </div>
    ${leave ? html`<button type="button" class="quiet" ?disabled=${app.busy} @click=${() => app.confirmLeave(leave)}>Leave the game …</button>` : nothing}
  </section>`;
}

const MOST_OPEN = 14; // offers of a dialog whose groups all stand open

/** A group of offers; of many, the groups are folded. */
function offerGroup(app, title, offers, folded) {
  const { command } = offers[0];
  const choices = html`<div class="buttons">${offers.map((offer) => button(app, offer, offered(offer), "choice"))}</div>`;
  const point = () => app.markOffer(command);
  if (!folded) return html`<section class="group" @mouseenter=${point} @focusin=${point}><h3>${upperFirst(title)}</h3>${choices}</section>`;
  return html`<details class="group" name="offers" @mouseenter=${point} @focusin=${point}>
    <summary>${upperFirst(title)}<span class="note">${offers.length > 1 ? plural(offers.length, "way") : ""}</span></summary>${choices}</details>`;
}

/** The open dialog: a choice among offers, in groups by their title. */
export function dialogView(app) {
  const { dialog } = app;
  const groups = dialog ? [...byTitle(dialog.offers)] : [];
  return html`<dialog aria-labelledby="dialog-title" @close=${() => app.closeDialog()} @click=${(event) => event.target.matches("dialog") && app.closeDialog()}>
    ${dialog ? html`<div class="inside"><header><h2 id="dialog-title">${dialog.name}</h2>
      <button type="button" class="quiet" @click=${() => app.closeDialog()}>Close</button></header>
    <p>${dialog.question}</p>
    ${groups.map(([title, offers]) => offerGroup(app, title, offers, groups.length > 1 && dialog.offers.length > MOST_OPEN))}
    ${dialog.action ? html`<p><button type="button" class="primary" @click=${dialog.action.run}>${dialog.action.text}</button></p>` : nothing}
    </div>` : nothing}
  </dialog>`;
}

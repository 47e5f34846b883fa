// @ts-check
// The lobby: my games, the ways to a table, and the open tables and games of others, where there are any.
import { html, nothing, render } from "../vendor/lit-html/lit-html.js";
import { myGames } from "../api/my_games.js";
import { home, root, when } from "../shared/frame.js";
import { ago, seatName } from "../shared/words.js";
import { form } from "./create_form.js";
import { createForm } from "./create_form_view.js";
import { drawWith, freeListedSeat, lobby, poll, readOlder, update } from "./lobby_state.js";
import { openRecord } from "./record_dialog.js";

/** @import { ListedGame } from "../api/openapi.js" */
/** @import { MyGame } from "../api/my_games.js" */
/** @import { Lobby } from "./lobby_state.js" */

/** How a game stands: who waits and since when, whose turn it is, who won. @param {ListedGame} game */
function standing({ created, seats, status, free, turn }) {
  const since = ago(Date.now() - created);
  if (status === "waiting") {
    if (!free) return `everybody is here, and it can start · made ${since}`;
    const people = seats.filter((seat) => !seat.free && seat.kind === "human").map((seat) => seat.name);
    const who = people.length
      ? `${people.join(" and ")} ${people.length > 1 ? "wait" : "waits"}`
      : "It waits";
    return `${who} for ${free} more · made ${since}`;
  }
  if (status === "playing")
    return `${turn === null ? "all are to choose" : `${seats[turn].name} is to move`} · made ${since}`;
  const winners = seats.filter((seat) => seat.place === 1);
  return `${winners.map(seatName).join(" and ")} won with ${winners[0]?.total} · made ${since}`;
}

/**
 * What the host of a table that waits may do: free the seats of others, each after a second question.
 * @param {ListedGame} listed
 * @param {MyGame} mine
 * @param {Lobby["freeing"]} freeing
 */
function hostActions({ game, seats }, mine, freeing) {
  const others = seats.filter((seat) => !seat.free && seat.seat !== mine.seat);
  return html`<p class="host">${others.map((seat) => {
    if (freeing?.game !== game || freeing.seat !== seat.seat) {
      return html`<button type="button" class="quiet" @click=${() => update({ freeing: { game, seat: seat.seat } })}>Free the seat of ${seatName(seat)} …</button>`;
    }
    return html`<span>Free the seat of ${seatName(seat)}? <button type="button" class="primary" @click=${() => freeListedSeat(game, seat.seat)}>Free it</button>
        <button type="button" class="quiet" @click=${() => update({ freeing: null })}>No</button></span>`;
  })}</p>`;
}

/** @param {ListedGame} listed @param {string} action @param {Lobby} shown */
function row(listed, action, { freeing, catalog }) {
  const { game, status, board, board_title, ruleset_title, seats, turn } = listed;
  const mine = myGames()[game];
  const isOwnTurn = status === "playing" && turn !== null && turn === mine?.seat;
  const title = catalog?.boards.find((each) => each.id === board)?.title ?? board_title ?? ruleset_title;
  return html`<li class="game"><div><b>${title}</b><span class="note">${when(title !== ruleset_title, () => `${ruleset_title} rules · `)}${standing(listed)}</span>
      <p class="people">${seats.map((seat) => html`<span class=${seat.free ? "free" : ""}>${seat.free ? "free" : seat.name}${seat.total === null ? nothing : html` <b>${seat.total}</b>`}</span>`)}</p>${mine?.host && status === "waiting" ? hostActions(listed, mine, freeing) : nothing}</div>
      ${when(isOwnTurn, () => html`<span class="your-turn">your turn</span>`)}
      <a class="button" href="/table/${game}" aria-label=${`${action}: ${title}, ${game}`}>${action}</a></li>`;
}

/**
 * A list, where it has a game.
 * @param {Lobby} shown
 * @param {string} title
 * @param {ListedGame[]} games
 * @param {(game: ListedGame) => string} action
 */
const list = (shown, title, games, action) =>
  games.length
    ? html`<section class="panel"><h2>${title}</h2><ul class="games">${games.map((game) => row(game, action(game), shown))}</ul></section>`
    : nothing;

const FIRST = 3; // of my games that stand above all else
const ORDER = { playing: 1, waiting: 2, over: 3 };

/** My games, first those that wait for me; while they are read, room for as many. @param {Lobby} shown @param {Record<string, MyGame>} mine */
function ownList(shown, mine) {
  const count = Object.keys(mine).length;
  if (!count) return nothing;
  /** @param {ListedGame} game */
  const place = ({ game, status, turn }) =>
    status === "playing" && turn !== null && turn === mine[game].seat ? 0 : ORDER[status];
  const games = shown.games
    .filter(({ game }) => game in mine)
    .toSorted((a, b) => place(a) - place(b) || b.created - a.created);
  /** @param {ListedGame} game */
  const ownRow = (game) => row(game, game.status === "over" ? "See again" : "Open", shown);
  const rooms = Array.from({ length: Math.min(count, FIRST) }, () => html`<li class="game"></li>`);
  return html`<section class="panel mine" aria-busy=${!shown.isRead}><h2>My games on this device</h2>
    <ul class="games">${shown.isRead ? games.slice(0, FIRST).map(ownRow) : rooms}</ul>
    ${when(count > FIRST, () => html`<details><summary>All ${count}</summary><ul class="games">${games.slice(FIRST).map(ownRow)}</ul></details>`)}</section>`;
}

/** The whole page: what is read later comes below all that stands already. @param {Lobby} shown */
function lobbyPage(shown) {
  const { games, trouble, refusal, catalog } = shown;
  const mine = myGames();
  /** @param {ListedGame["status"]} status */
  const others = (status) => games.filter((game) => game.status === status && !(game.game in mine));
  return html`<header class="top">${home}<nav><button type="button" class="quiet" @click=${openRecord}>My record</button> <a href="/rules">Rules</a> <a href="/guide">Guide</a> <a href="/docs">API</a></nav></header>
      ${when(trouble, (why) => html`<p class="banner away" role="status">${why} Trying again.</p>`)}
      ${when(refusal, (why) => html`<p class="banner refusal"><b>Refused.</b> ${why}</p>`)}
      <main id="main" class="lobby"><div class="intro"><h1>Games, around one table</h1>
      <p class="note">Play now, or send your friends a link. Every game can be watched again, and proven fair.</p></div>
      ${ownList(shown, mine)}
      ${
        catalog
          ? html`${createForm(form, catalog)}
      <div class="lists">${list(shown, "Open tables", others("waiting"), ({ free }) => (free ? "Sit down" : "Look"))}
        ${list(shown, "Being played", others("playing"), () => "Watch")}
        ${list(shown, "Over", others("over"), () => "See again")}</div>
      ${when(shown.next, () => html`<p class="more"><button type="button" @click=${readOlder}>More games</button></p>`)}`
          : html`<p class="note">Loading …</p>`
      }</main>`;
}

drawWith(() => render(lobbyPage(lobby), root));
poll();

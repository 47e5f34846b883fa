// What the host of a game does at its table. The server says whether it may.
import { ask, freeSeat, held, newKey } from "../api/api.js";
import { seatName } from "../shared/words.js";

/** Do something, with the table read again after it. */
function act(app, action) {
  app.closeDialog();
  return app.attempt(async () => {
    await action();
    await app.refresh();
  });
}

const post = ({ game }, path, body) => ask(`/games/${game}/${path}`, { method: "POST", body, token: held(game).host, key: newKey() });

/** Free a seat before the start, once the host has said so again. */
export function confirmFree(app, seat) {
  const run = () => act(app, () => freeSeat(app.game, seat.seat));
  const question = "Who sits there loses the seat. Ten seconds later somebody else can take it, or a bot.";
  app.choose(`Free the seat of ${seatName(seat)}?`, question, [], { text: "Free the seat", run });
}

export const seatBot = (app, seat) => act(app, () => post(app, `seats/${seat}/bot`, { policy: "greedy" }));

/** End a game that nobody plays on. */
export function confirmEnd(app) {
  const run = () => act(app, () => post(app, "end"));
  app.choose("End the game?", "A game that nobody plays on is counted as it stands. This can't be undone.", [], { text: "End the game", run });
}

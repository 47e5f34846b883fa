// The board: routes as car spaces, what lies on them, cities with their names.
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { mark, seatLetter } from "./marks.js";
import { seatName } from "../shared/words.js";

const HEIGHT = 10.5; // of a car space

const at = (place) => `translate(${place.x} ${place.y})`;
const turned = (space) => {
  const angle = space.angle > 90 || space.angle <= -90 ? space.angle + 180 : space.angle;
  return `translate(${space.x} ${space.y}) rotate(${angle})`;
};

export const freeSpace = (route, space, place) => svg`<g transform=${turned(space)}>
  <rect class="space" x=${-space.length / 2} y=${-HEIGHT / 2} width=${space.length} height=${HEIGHT} rx="2"></rect>
  ${route.kind === "tunnel" ? svg`<path class="sleepers" d=${`M${-space.length / 2 + 1}-${HEIGHT / 2}h${space.length - 2}M${-space.length / 2 + 1} ${HEIGHT / 2}h${space.length - 2}`}></path>` : nothing}
  <g class="mark" transform="scale(.8)">${place < route.locomotives ? mark("locomotive") : mark(route.color)}</g>
</g>`;

const car = (space, seat, numbered) => svg`<g transform=${turned(space)} class="car s-${seat}"><g class="piece">
  <rect class="body" x=${-space.length / 2 + 0.4} y=${-HEIGHT / 2 - 0.6} width=${space.length - 0.8} height=${HEIGHT + 1.2} rx="2.6"></rect>
  ${numbered ? svg`<circle class="plate" r="5"></circle><text class="number" y="3.2">${seatLetter(seat)}</text>`
    : svg`<path class="windows" d=${`M${-space.length / 2 + 3}-1.4h${space.length - 6}`}></path>`}
</g></g>`;

/** Merchandise: the stack's colour with its mark, and the token on top. */
export const stack = (city, tokens) => svg`<g class="tokens c-${city.merchandise}" transform="translate(10 10)">
  ${tokens.slice(1, 4).map((_, place, rest) => svg`<circle class="below" cx=${(rest.length - place) * 1.6} cy=${(rest.length - place) * 1.6} r="6.8"></circle>`)}
  <circle class="top" r="6.8"></circle><text class="number" y="3.2">${tokens[0]}</text></g>`;

function routeShape(route, model) {
  const owner = model.state?.routes[route.id];
  const owned = owner !== undefined;
  const legal = model.claims?.has(route.id);
  const names = ["route", `c-${route.color}`, route.kind];
  if (owned) names.push("owned");
  if (legal) names.push("legal");
  if (model.closed?.has(route.id)) names.push("closed");
  if (model.marked?.has(route.id)) names.push("marked");
  if (model.latest?.has(route.id)) names.push("latest");
  const who = owned ? `; ${seatName(model.state.seats[owner])} has it` : legal ? "; you can claim it" : "";
  const middle = Math.floor(route.spaces.length / 2);
  const [first, last] = [route.spaces[0], route.spaces.at(-1)];
  return svg`<g class=${names.join(" ")} data-route=${route.id} @click=${legal ? () => model.onRoute(route.id) : null}>
    <title>${route.title}${who}</title>
    <path class="hit" d=${`M${first.x} ${first.y}L${last.x + 0.1} ${last.y}`}></path>
    ${route.spaces.map((space, place) => (owned ? car(space, owner, place === middle) : freeSpace(route, space, place)))}
  </g>`;
}

function cityShape(city, model) {
  const { state } = model;
  const station = state?.stations[city.id];
  const passenger = state?.passengers[city.id];
  const tokens = state?.tokens[city.id];
  const legal = model.cities?.has(city.id);
  const names = ["city"];
  if (legal) names.push("legal");
  if (city.country) names.push("country");
  if (model.ends?.has(city.id)) names.push("marked");
  return svg`<g class=${names.join(" ")} data-city=${city.id} transform=${at(city)} @click=${legal ? () => model.onCity(city.id) : null}>
    <title>${city.name}${city.country ? ", a country: no path leads through" : ""}${tokens?.length ? `, ${city.merchandise} merchandise ${tokens.join(", ")}` : ""}${
      station === undefined ? "" : `, station of ${seatName(state.seats[station])}`}${passenger === undefined ? "" : `, passenger of ${seatName(state.seats[passenger])}`}${legal ? "; you can act here" : ""}</title>
    ${model.ends?.has(city.id) ? svg`<circle class="halo" r="13"></circle>` : nothing}
    <circle class="hit" r="11"></circle>
    ${city.country ? svg`<rect class="dot" x="-7" y="-7" width="14" height="14" rx="2"></rect><path class="frontier" d="M-7 0H7M0-7V7"></path>` : svg`<circle class="dot" r="5.2"></circle>`}
    ${station === undefined ? nothing : svg`<g class="station s-${station}"><rect x="-8" y="-8" width="16" height="16" rx="3"></rect><text class="number" y="4">${seatLetter(station)}</text></g>`}
    ${tokens?.length ? stack(city, tokens) : nothing}
    ${passenger === undefined ? nothing : svg`<g class="passenger s-${passenger}" transform="translate(-10 -10)"><g class="piece"><circle r="8"></circle><g transform="translate(-3 0) scale(.8)">${mark("passenger")}</g>
      <text class="number" x="3.6" y="3">${seatLetter(passenger)}</text></g></g>`}
  </g>`;
}

const label = (city) => svg`<text class="name" x=${city.label.x} y=${city.label.y} text-anchor=${city.label.anchor}>${city.name}</text>`;

/** The board. `model` has the state, what is legal by route and by city, what is marked, and what a click does. */
export const boardView = (drawing, model) => html`<svg class="board ${drawing.land ? "" : "plain"}" viewBox=${`0 0 ${drawing.width} ${drawing.height}`} role="img" aria-label=${
  `Map of ${drawing.title}; ${Object.keys(model.state?.routes ?? {}).length} of ${drawing.routes.length} routes claimed`}>
  <rect class="sea" width=${drawing.width} height=${drawing.height}></rect>
  <path class="land" d=${drawing.land}></path>
  <g class="routes">${drawing.routes.map((route) => routeShape(route, model))}</g>
  <g class="cities">${drawing.cities.map((city) => cityShape(city, model))}</g>
  <g class="names" aria-hidden="true">${drawing.cities.map(label)}</g>
</svg>`;

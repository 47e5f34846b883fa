// Written by `make page-types` from the OpenAPI document: what the calls of the pages send and answer.

export interface Calls {
  "DELETE /games/{game}/push": { body: undefined; answer: PushState };
  "DELETE /games/{game}/webhook": { body: undefined; answer: WebhookState };
  "GET /boards": { body: undefined; answer: BoardList };
  "GET /games": { body: undefined; answer: GameListing };
  "GET /games/{game}/audit": { body: undefined; answer: AuditReport };
  "GET /games/{game}/board": { body: undefined; answer: BoardDrawing };
  "GET /games/{game}/choices/{place}": { body: undefined; answer: JudgedChoice };
  "GET /games/{game}/disputes": { body: undefined; answer: DisputeList };
  "GET /games/{game}/disputes/{dispute}": { body: undefined; answer: Dispute };
  "GET /games/{game}/rematch": { body: undefined; answer: Rematch };
  "GET /games/{game}/state": { body: undefined; answer: TableState | PartsTable };
  "GET /games/{game}/suggestions": { body: undefined; answer: Suggestions };
  "GET /games/{game}/view": { body: undefined; answer: ViewPage };
  "GET /games/{game}/webhook": { body: undefined; answer: WebhookState };
  "GET /public-keys": { body: undefined; answer: PublicKeys };
  "GET /push-key": { body: undefined; answer: PushKey };
  "GET /rulesets": { body: undefined; answer: RulesetList };
  "POST /games": { body: CreateGameRequest; answer: GameCreated };
  "POST /games/{game}/commands": { body: PlayerCommand; answer: CommandAccepted | UnknownVerdict };
  "POST /games/{game}/disputes": { body: DisputeRequest; answer: DisputeRaised };
  "POST /games/{game}/end": { body: undefined; answer: GameClosed };
  "POST /games/{game}/forks": { body: ForkRequest; answer: GameForked };
  "POST /games/{game}/join": { body: JoinRequest; answer: SeatJoined };
  "POST /games/{game}/rematch": { body: undefined; answer: Rematch };
  "POST /games/{game}/seats/{seat}/bot": { body: SeatBotRequest; answer: SeatedBot };
  "POST /games/{game}/seats/{seat}/free": { body: undefined; answer: FreedSeat };
  "POST /games/{game}/start": { body: undefined; answer: GameStarted };
  "POST /games/{game}/webhook/test": { body: undefined; answer: WebhookState };
  "PUT /games/{game}/push": { body: NewPush; answer: PushState };
  "PUT /games/{game}/webhook": { body: NewWebhook; answer: WebhookSet };
}

export type AuditFinding = {
  number: number | null;
  kind: "chain" | "signature" | "deal" | "view" | "verdict" | "fold";
  why: string;
};

export type AuditReport = {
  game: string;
  ok: boolean;
  verdict: string;
  entries: number;
  findings: AuditFinding[];
  checked: ("chain" | "signature" | "deal" | "view" | "verdict" | "fold")[];
  unchecked: { [name: string]: string };
  deal: string;
  move?: ExplainedMove;
};

export type BoardDrawing = {
  id: string;
  title: string;
  ruleset: string;
  width: number;
  height: number;
  land: string;
  cities: DrawnCity[];
  routes: DrawnRoute[];
};

export type BoardForm = {
  format: 1;
  id: string;
  title: string;
  size: unknown[];
  cities: BoardForm_CityForm[];
  routes: BoardForm_RouteForm[];
  tickets: BoardForm_TicketForm[];
  rules?: string;
  options?: RuleOptionChoices | null;
  unverified?: string[];
  not_built?: string[];
};

export type BoardForm_CityForm = {
  id: string;
  name: string;
  at: unknown[];
  country?: boolean;
  merchandise?: string | null;
  unverified?: boolean;
};

export type BoardForm_RouteForm = {
  id: string;
  between: unknown[];
  length: number;
  color: "purple" | "white" | "blue" | "yellow" | "orange" | "red" | "green" | "black" | "gray";
  kind?: "rail" | "ferry" | "tunnel";
  locomotives?: number;
};

export type BoardForm_TicketForm = {
  id: string;
  between: unknown[];
  points: number;
  deck: string;
};

export type BoardList = {
  boards: ListedBoard[];
};

export type CarSpace = {
  x: number;
  y: number;
  angle: number;
  length: number;
};

export type CitedRule = {
  rule: string;
  sentence: string;
  passage: string;
};

export type ClockPreset = {
  name: string;
  title: string;
  meaning: string;
  options: { [name: string]: number | null };
};

export type Command = unknown;

export type CommandAccepted = {
  id: string;
  verdict: "accepted";
  level: string;
  number: number;
  head: string | null;
  entry: EntryBody;
};

export type Command_answer_undo = {
  type: "answer_undo";
  agrees: boolean;
};

export type Command_ask_undo = {
  type: "ask_undo";
};

export type Command_build_station = {
  type: "build_station";
  city: string;
  cards: { [name: string]: number };
  neighbour?: string | null;
};

export type Command_claim_route = {
  type: "claim_route";
  route: string;
  cards: { [name: string]: number };
  passenger?: string | null;
};

export type Command_decline_tunnel = {
  type: "decline_tunnel";
};

export type Command_draw_blind = {
  type: "draw_blind";
};

export type Command_draw_market = {
  type: "draw_market";
  slot?: number | null;
  color?: "purple" | "white" | "blue" | "yellow" | "orange" | "red" | "green" | "black" | "locomotive" | "locomotive4" | "passenger" | null;
};

export type Command_draw_tickets = {
  type: "draw_tickets";
  decks?: { [name: string]: number } | null;
};

export type Command_keep_tickets = {
  type: "keep_tickets";
  keep: number[];
};

export type Command_leave = {
  type: "leave";
};

export type Command_move_passenger = {
  type: "move_passenger";
  city: string;
  path: string[];
};

export type Command_pass = {
  type: "pass";
};

export type Command_pay_tunnel = {
  type: "pay_tunnel";
  cards: { [name: string]: number };
};

export type Command_request_cards = {
  type: "request_cards";
};

export type CreateGameRequest = {
  seats: SeatPlan[];
  ruleset?: string | null;
  board?: string | BoardForm | null;
  seed?: string | null;
  options?: RuleOptionChoices | null;
  clock?: string | null;
  position?: Position | null;
  visibility?: "public" | "unlisted" | "players" | null;
  spectator_delay?: number | null;
  by_invitation?: boolean | null;
  suggestions?: boolean | null;
  undo?: "never" | "consent" | "free" | null;
};

export type Dispute = {
  dispute: string;
  game: string;
  seat: number | null;
  number: number;
  reason: string;
  since: string;
  state: string;
  final: boolean;
  answer: DisputeAnswer | null;
};

export type DisputeAnswer = {
  scope: "so far" | "whole";
  verdict: string;
  on_reason?: string;
  number?: number;
  shown_as_committed?: boolean;
  as_the_rules_say?: boolean | null;
  game?: string;
  ok?: boolean;
  entries?: number;
  findings?: AuditFinding[];
  checked?: ("chain" | "signature" | "deal" | "view" | "verdict" | "fold")[];
  unchecked?: { [name: string]: string };
  deal?: string;
  move?: ExplainedMove;
};

export type DisputeList = {
  game: string;
  disputes: ListedDispute[];
};

export type DisputeRaised = {
  dispute: string;
  game: string;
  number: number;
  address: string;
};

export type DisputeRequest = {
  number: number;
  reason: string;
};

export type DrawnCity = {
  id: string;
  name: string;
  x: number;
  y: number;
  country: boolean;
  merchandise: string | null;
  label: Label;
};

export type DrawnRoute = {
  id: string;
  a: string;
  b: string;
  length: number;
  color: string;
  kind: string;
  locomotives: number;
  title: string;
  spaces: CarSpace[];
};

export type EntryBody = {
  number: number;
  at: number;
  answers: string | null;
  events: Event[];
  head: string | null;
  proof?: Proof;
  legal?: PlayerCommand[];
};

export type Event = unknown;

export type ExplainedMove = {
  number: number;
  at?: number;
  id?: string | null;
  seat?: number | null;
  speaker?: string;
  command?: Command;
  wish?: string;
  accepted?: boolean;
  refusal?: RefusedBy | null;
  as_the_rules_say?: boolean;
  doubt?: string | null;
  rules?: CitedRule[];
  legal?: Command[];
  seen?: { [name: string]: Perspective };
  unreadable?: string;
};

export type ExplainedSeat = {
  seat: number;
  name: string;
  points: number;
  cars: number;
  cards: number;
  hand: { [name: string]: number };
  tickets: (string | null)[];
  offer: (string | null)[];
  stations: { [name: string]: string | null };
  gone: string | null;
};

export type ExplainedTable = {
  state: string;
  at?: number;
  turn?: number | null;
  awaits?: { [name: string]: string };
  market?: (string | null)[];
  deck?: number;
  next?: (string | null)[];
  discards?: { [name: string]: number };
  ticket_decks?: { [name: string]: number };
  routes?: { [name: string]: number };
  stations?: { [name: string]: number };
  passengers?: { [name: string]: number };
  seats?: ExplainedSeat[];
  parts?: PartState[];
};

export type FieldError = {
  field: string;
  detail: string;
};

export type ForkRequest = {
  at: number;
};

export type FreedSeat = {
  seat: number;
  invitation: string;
  number: number;
  level: string;
  head: string | null;
  game: string;
};

export type GameClosed = {
  game: string;
  number: number;
  level: string;
  head: string | null;
};

export type GameCreated = {
  game: string;
  token: string;
  taken: TakenSeat[];
  invitations: SeatInvitation[];
  number: number;
  level: string;
  head: string | null;
};

export type GameForked = {
  game: string;
  token: string;
  taken: TakenSeat[];
  invitations: SeatInvitation[];
  number: number;
  level: string;
  head: string | null;
  of: string;
  at: number;
  afresh: boolean;
  seat?: number;
  seat_token?: string;
};

export type GameListing = {
  missing?: string;
  games: ListedGame[];
  next?: string;
};

export type GameStarted = {
  game: string;
  number: number;
  level: string;
  head: string | null;
};

export type JoinRequest = {
  name: string;
  seat?: number | null;
  age?: number | null;
  contribution?: string | null;
  invitation?: string | null;
};

export type JudgedChoice = {
  game: string;
  seat: number;
  place: number;
  choices: number;
  number: number;
  done: SuggestedCommand;
  best: SuggestedCommand | null;
  cost: number | null;
  cost_error: number | null;
  forks: boolean;
};

export type Label = {
  x: number;
  y: number;
  width: number;
};

export type LegalCommand = {
  command: PlayerCommand;
  text: string;
  title: string;
  detail: string;
};

export type ListedBoard = {
  id: string;
  title: string;
  ruleset: string;
  rulesets: string[];
  cities: number;
  routes: number;
  tickets: number;
};

export type ListedDispute = {
  dispute: string;
  game: string;
  seat: number | null;
  number: number;
  reason: string;
  since: string;
  state: string;
  final: boolean;
  address: string;
};

export type ListedGame = {
  game: string;
  status: "waiting" | "playing" | "over";
  ruleset: string;
  ruleset_title: string;
  board: string | null;
  board_title: string | null;
  created: number;
  number: number;
  seats: ListedSeat[];
  free: number;
  turn: number | null;
};

export type ListedSeat = {
  seat: number;
  name: string | null;
  kind: "human" | "bot";
  policy: string | null;
  free: boolean;
  total: number | null;
  place: number | null;
};

export type Move = {
  number: number;
  at: number;
  seat: number | null;
  text: string[];
  marks: string[];
  points: number;
  turn: number;
};

export type NewPush = {
  endpoint: string;
  keys: PushKeys;
};

export type NewWebhook = {
  url: string;
  secret?: string | null;
  form?: "ledgerline" | "discord" | "slack";
};

export type OfferGiven = {
  tickets: TicketGiven[];
  least?: number;
};

export type OptionDescription = {
  name: string;
  type: OptionType;
  default: OptionValue;
  default_with_people: OptionValue;
  meaning: string;
};

export type OptionType = {
  type?: string;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  maxProperties?: number;
  pattern?: string;
  items?: OptionType | boolean;
  additionalProperties?: OptionType | boolean;
  propertyNames?: OptionType;
  anyOf?: OptionType[];
  patternProperties?: { [name: string]: OptionType };
  title?: string;
};

export type OptionValue = null | boolean | number | string | (null | number)[] | { [name: string]: number | (null | number)[] };

export type PartState = {
  name: string;
  seat: number | null;
  cards: (string | null)[] | null;
  number: number | null;
  text: string | null;
};

export type PartsResult = {
  seat: number;
  place: number;
  total: number;
  parts: { [name: string]: number };
};

export type PartsTable = {
  game: string;
  viewer: number | "public";
  number: number;
  head: string | null;
  at: number;
  created: number;
  age_ms: number;
  status: "waiting" | "playing" | "over";
  ruleset: string;
  ruleset_title: string;
  turn: number | null;
  free_seats: number[];
  order: "seated" | "age" | "youngest";
  turn_order: number[];
  undo: UndoState | null;
  suggestions: boolean;
  by_invitation: boolean;
  ended: string | null;
  play_off: string | null;
  moves: Move[];
  legal?: LegalCommand[] | null;
  bots_late?: boolean;
  seats: SeatState[];
  parts: PartState[];
  drawing: string | null;
  result: PartsResult[] | null;
};

export type Perspective = {
  before: ExplainedTable;
  events: Event[];
  sentences: string[];
  after: ExplainedTable;
};

export type PlayerCommand = Command_draw_blind | Command_draw_market | Command_draw_tickets | Command_keep_tickets | Command_claim_route | Command_pay_tunnel | Command_decline_tunnel | Command_build_station | Command_move_passenger | Command_request_cards | Command_pass | Command_leave | Command_ask_undo | Command_answer_undo;

export type Position = {
  turn?: number | null;
  hands?: ({ [name: string]: number })[];
  market?: ("purple" | "white" | "blue" | "yellow" | "orange" | "red" | "green" | "black" | "locomotive" | "locomotive4" | "passenger" | null)[] | null;
  deck?: ("purple" | "white" | "blue" | "yellow" | "orange" | "red" | "green" | "black" | "locomotive" | "locomotive4" | "passenger")[] | null;
  discard?: { [name: string]: number } | null;
  routes?: { [name: string]: number } | null;
  cars?: number[];
  tickets?: (TicketGiven[])[];
  ticket_decks?: { [name: string]: TicketGiven[] } | null;
  stations?: { [name: string]: StationGiven } | null;
  passengers?: { [name: string]: number } | null;
  tokens?: { [name: string]: number[] } | null;
  merchandise?: number[];
  points?: number[];
  order?: number[] | null;
  last_turns?: number[] | null;
  passed?: number[];
  gone?: ("left" | "out of time" | "removed" | null)[];
  passengers_left?: number[] | null;
  second_card?: boolean;
  offer?: OfferGiven | null;
  tunnel?: TunnelGiven | null;
};

export type Problem = {
  type: string;
  title: string;
  status: number;
  detail?: string;
  rule?: string;
  field?: string;
  errors?: FieldError[];
  id?: string;
  number?: number;
  level?: string | null;
  head?: string | null;
  entry?: EntryBody | null;
  asked?: string;
  verdict?: "unknown";
  retry_after?: number;
};

export type Proof = {
  public: string;
  part: string | null;
};

export type PublicKey = {
  key: string;
  since: string | null;
  before: string | null;
};

export type PublicKeys = {
  keys: PublicKey[];
};

export type PushKey = {
  key: string | null;
};

export type PushKeys = {
  p256dh: string;
  auth: string;
};

export type PushState = {
  game: string;
  seat: number;
  devices: number;
};

export type RefusedBy = {
  rule: string;
  why: string;
};

export type Rematch = {
  game: string | null;
  seat: number | null;
  invitation: string | null;
  token: string | null;
};

export type RuleOptionChoices = {
  seats_least?: number;
  seats_most?: number;
  order?: "seated" | "age" | "youngest";
  cars?: number;
  cards?: { [name: string]: number };
  hand?: number;
  market?: number;
  flush?: { [name: string]: number };
  flush_most?: number;
  start_tickets?: { [name: string]: number };
  start_named?: number;
  start_keep?: number;
  start_keep_most?: number | null;
  start_return?: "bottom" | "out" | "shuffled" | "top";
  draw_tickets?: { [name: string]: number };
  draw_named?: number;
  draw_keep?: number;
  pair_tickets?: number | null;
  route_points?: (number | null)[];
  points_at_once?: boolean;
  parallel_seats?: number;
  parallel_owned?: boolean;
  last_cars?: number;
  last_turns?: "all" | "others";
  longest_bonus?: number;
  most_tickets_bonus?: number;
  tunnel_cards?: number;
  station_costs?: number[];
  station_points?: number;
  passengers?: number;
  merchandise?: { [name: string]: number[] };
  plus_four_least?: number;
  play_off?: number;
  clock_ms?: number | null;
  move_ms?: number | null;
  strict?: boolean;
  refusals_kept?: number;
};

export type RulesetDescription = {
  name: string;
  title: string;
  version: number;
  meaning: string;
  default_board: string | null;
  seats_least: number;
  seats_most: number;
  policies: string[];
  options: OptionDescription[];
};

export type RulesetList = {
  rulesets: RulesetDescription[];
  clocks: ClockPreset[];
};

export type SeatBotRequest = {
  policy: "random" | "greedy" | "planner" | "searcher" | "hold-10" | "buy-now";
};

export type SeatInvitation = {
  seat: number;
  invitation: string;
};

export type SeatJoined = {
  game: string;
  seat: number;
  token: string;
  number: number;
  level: string;
  head: string | null;
};

export type SeatPlan = {
  kind?: "human" | "bot";
  policy?: "random" | "greedy" | "planner" | "searcher" | "hold-10" | "buy-now" | null;
  name?: string | null;
  age?: number | null;
};

export type SeatResult = {
  seat: number;
  place: number;
  total: number;
  routes: number;
  tickets: number;
  made: TicketState[];
  missed: TicketState[];
  longest: number;
  bonus: number;
  trail: string[];
  most: number;
  stations: number;
  merchandise: number;
};

export type SeatState = {
  seat: number;
  name: string | null;
  kind: "human" | "bot";
  policy: string | null;
  seated: boolean;
  choice: string | null;
  clock_ms: number | null;
  deadline_ms: number | null;
  gone: string | null;
};

export type SeatView = {
  seat: number;
  name: string | null;
  kind: "human" | "bot";
  policy: string | null;
  seated: boolean;
  choice: string | null;
  clock_ms: number | null;
  deadline_ms: number | null;
  gone: string | null;
  cars: number;
  cards: number;
  tickets: number;
  points: number;
  stations_left: number;
  passengers_left: number;
};

export type SeatedBot = {
  seat: number;
  name: string;
  policy: string | null;
  number: number;
  level: string;
  head: string | null;
  game: string;
};

export type StationGiven = {
  seat: number;
  neighbour?: string | null;
};

export type SuggestedCommand = {
  command: PlayerCommand;
  text: string;
  why: string;
  points: number | null;
  points_error: number | null;
  lead: number | null;
  lead_error: number | null;
  games: number;
};

export type Suggestions = {
  game: string;
  seat: number;
  number: number;
  commands: SuggestedCommand[];
};

export type TableState = {
  game: string;
  viewer: number | "public";
  number: number;
  head: string | null;
  at: number;
  created: number;
  age_ms: number;
  status: "waiting" | "playing" | "over";
  ruleset: string;
  ruleset_title: string;
  turn: number | null;
  free_seats: number[];
  order: "seated" | "age" | "youngest";
  turn_order: number[];
  undo: UndoState | null;
  suggestions: boolean;
  by_invitation: boolean;
  ended: string | null;
  play_off: string | null;
  moves: Move[];
  legal?: LegalCommand[] | null;
  bots_late?: boolean;
  board: string;
  last_turns: boolean;
  seats: SeatView[];
  market: (string | null)[];
  deck: number;
  discards: number;
  ticket_decks: { [name: string]: number };
  routes: { [name: string]: number };
  closed: string[];
  stations: { [name: string]: number };
  passengers: { [name: string]: number };
  tokens: { [name: string]: number[] };
  tunnel: TunnelState | null;
  hand: { [name: string]: number } | null;
  tickets: TicketState[];
  offer: TicketState[];
  keep_least: number;
  result: SeatResult[] | null;
};

export type TakenSeat = {
  seat: number;
  name: string;
  policy: string | null;
};

export type TicketGiven = {
  between: unknown[];
  points: number;
};

export type TicketState = {
  id: string;
  a: string;
  b: string;
  points: number;
  deck: string;
  made: boolean;
  way: string[];
  open: boolean;
};

export type TunnelGiven = {
  route: string;
  cards: { [name: string]: number };
  revealed: ("purple" | "white" | "blue" | "yellow" | "orange" | "red" | "green" | "black" | "locomotive" | "locomotive4" | "passenger")[];
};

export type TunnelState = {
  route: string;
  cards: { [name: string]: number };
  revealed: string[];
  extra: number;
};

export type UndoState = {
  seat: number;
  waiting: number[] | null;
};

export type UnknownVerdict = {
  id: string;
  verdict: "unknown";
  level: string | null;
  number?: number;
  detail: string;
};

export type ViewPage = {
  game: string;
  viewer: number | "public";
  entries: EntryBody[];
  next: number;
  more: boolean;
};

export type WebhookSet = {
  game: string;
  seat: number;
  url: string;
  secret: string;
  form: "ledgerline" | "discord" | "slack";
};

export type WebhookState = {
  game: string;
  seat: number;
  url: string | null;
  form: "ledgerline" | "discord" | "slack" | null;
  notified: number | null;
  failure: string | null;
};

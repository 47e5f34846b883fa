// The one interface between the page of a table and a game. The page has seats, turns, clocks, moves, replay, undo, rematch,
// alerts and the way to the audit; whoever draws a kind of table brings what stands here.
import type { LegalCommand, PartsResult, PlayerCommand, SeatResult, SeatState } from "../api/openapi.js";
import type { AnyTable, TablePage } from "./table_state.js";

/** A mark of a first game: the first place of these that is seen, and the words. */
export type Mark = readonly [places: string, words: string];

/** The words that a kind of table has of its own. */
export interface TableWords {
  /** what is in the drawer beside the table */
  drawer: string;
  /** what a seat does, by the choice that it has to make */
  choices: Record<string, string>;
  /** the key that presses a command of a type, where its first letter is another's */
  keys: Partial<Record<PlayerCommand["type"], string>>;
  /** the marks of a first game, in order */
  marks: readonly Mark[];
}

export interface Drawing<T extends AnyTable = AnyTable> {
  words: TableWords;
  /** Whether it draws this table. */
  draws(table: AnyTable): boolean;
  /** Read what it needs beside the table, before it is drawn first. */
  load?(): Promise<void>;
  /** What a table is called, and how the style sheet lays it out. */
  name(table: T): string;
  layout(): "tall" | "wide" | "in-parts";
  /** What lies on the table. */
  middle(page: TablePage<T>): unknown;
  /** What lies before the viewer. */
  own(page: TablePage<T>): unknown;
  /** What may be done now. */
  actions(page: TablePage<T>): unknown;
  /** What stands beside the table, in a drawer where there is no room. */
  beside?(page: TablePage<T>): unknown;
  /** What a seat has, in one line. */
  seatFacts(table: T, seat: SeatState): string;
  /** What a total is made of, each part by its heading. */
  scoreParts(row: SeatResult | PartsResult): [string, number][];
  /** The points table, by the numbers that a game is played by. */
  pointsTable?(parameters: Record<string, unknown>): unknown;
  /** A legal command in a dialog, within the group of its title; undefined: by its sentence. */
  offer?(offer: LegalCommand): unknown;
  /** Point at what a command is about; null: at nothing. */
  point?(command: PlayerCommand | null): void;
  /** A newer table has come, which isn't drawn yet. */
  arrived?(latest: T): void;
  /** The page was drawn, with another table before. */
  drawn?(before: AnyTable | undefined, page: TablePage<T>): void;
  /** Whether the end of the game is still shown: the scores come after it. */
  isEnding?(page: TablePage<T>): boolean;
}

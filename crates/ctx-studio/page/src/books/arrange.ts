// Which entries of a book are listed, and in which order.
import type { ScannedEntry } from "../api";
import { lower } from "../ui/marked";
import { AT_DEPTH, flag, keysAt, numberAt, positionOf, textAt, titleOf, type BookEntry } from "./entries";

export const SHOWS = ["all", "enabled", "disabled", "constant", "changed", "active", "inactive"] as const;
export const SORTS = ["file", "name", "order", "position", "tokens"] as const;

export interface Filters {
  query: string;
  show: (typeof SHOWS)[number];
  /** The number of a position; empty for any. */
  position: string;
  /** States in the test; empty for any. */
  states: readonly string[];
  sort: (typeof SORTS)[number];
}
export const NO_FILTERS: Filters = { query: "", show: "all", position: "", states: [], sort: "file" };

interface Known {
  tested: ReadonlyMap<string, ScannedEntry>;
  isChanged: (entry: BookEntry) => boolean;
}

export function arranged(entries: readonly BookEntry[], filters: Filters, known: Known): BookEntry[] {
  const query = lower(filters.query.trim());
  const { position, states, sort } = filters;
  const rows = entries.filter(
    (entry) =>
      (query === "" || searchable(entry).includes(query)) &&
      (position === "" || positionOf(entry) === Number(position)) &&
      (states.length === 0 || states.includes(known.tested.get(entry.pointer)?.state ?? "")) &&
      isShown(entry, filters.show, known),
  );
  if (sort === "file") return rows;
  const order = (entry: BookEntry) => numberAt(entry, "order") ?? 100;
  const tokens = ({ pointer }: BookEntry) => known.tested.get(pointer)?.tokens ?? 0;
  const compare: Record<typeof sort, (a: BookEntry, b: BookEntry) => number> = {
    name: (a, b) => names.compare(titleOf(a), titleOf(b)),
    order: (a, b) => order(a) - order(b),
    position: (a, b) => placeOf(a) - placeOf(b) || order(a) - order(b),
    tokens: (a, b) => tokens(b) - tokens(a),
  };
  return rows.sort(compare[sort]);
}

function isShown(entry: BookEntry, show: Filters["show"], { tested, isChanged }: Known): boolean {
  switch (show) {
    case "all":
      return true;
    case "enabled":
      return !flag(entry, "disable");
    case "disabled":
      return flag(entry, "disable");
    case "constant":
      return flag(entry, "constant");
    case "changed":
      return isChanged(entry);
    case "active":
      return tested.get(entry.pointer)?.state === "active";
    case "inactive":
      return tested.get(entry.pointer)?.state !== "active";
  }
}

const names = new Intl.Collator(undefined, { numeric: true });

/** From the top of the request to its end; a greater depth is farther from the end. */
function placeOf(entry: BookEntry): number {
  const rank = [0, 1, 4, 5, 6, 2, 3, 7][positionOf(entry)] ?? 8;
  const depth = positionOf(entry) === AT_DEPTH ? Math.min(numberAt(entry, "depth") ?? 4, 1e6) : 0;
  return rank * 1e7 - depth;
}

const texts = new WeakMap<object, string>();

/** An edit replaces the value, so its text is made once. */
function searchable(entry: BookEntry): string {
  let text = texts.get(entry.value);
  if (text === undefined) {
    const keys = [...keysAt(entry, "key"), ...keysAt(entry, "keysecondary")];
    text = lower([titleOf(entry), ...keys, textAt(entry, "content")].join("\n"));
    texts.set(entry.value, text);
  }
  return text;
}

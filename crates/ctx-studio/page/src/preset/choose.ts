// Selects single entries, and ranges that start at the last selected or focused entry.
import { isSelecting, selected } from "./state";
import { shownEntries } from "./list-view";
import { toggled } from "../inspector/state";

let start: string | undefined;
/** The selection before the range. */
let before: ReadonlySet<string> = new Set();

/** Sets the start of the next range. */
export function beginRange(key: string): void {
  start = key;
  before = selected.peek();
}

export function toggleChoice(key: string): void {
  isSelecting.value = true;
  selected.value = toggled(selected.value, key);
  beginRange(key);
}

/** Selects the shown entries from the start of the range to `to`. Replaces the previous range. A new range starts at
 * `from`. */
export function chooseRange(to: string, from = to): void {
  const keys = shownEntries.peek().map(({ key }) => key);
  const at = keys.indexOf(to);
  if (at < 0) return;
  if (start === undefined || !keys.includes(start)) beginRange(from);
  const first = Math.max(0, keys.indexOf(start ?? from));
  isSelecting.value = true;
  selected.value = new Set([...before, ...keys.slice(Math.min(first, at), Math.max(first, at) + 1)]);
}

export function choose(keys: readonly string[]): void {
  isSelecting.value = true;
  selected.value = new Set(keys);
}

export function endChoice(): void {
  isSelecting.value = false;
  selected.value = new Set();
  start = undefined;
}

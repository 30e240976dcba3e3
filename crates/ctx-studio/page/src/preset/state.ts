// What of a preset is open and chosen in this window; nothing of it is in the file.
import { computed, signal } from "@preact/signals";
import { current } from "../project";
import type { OpenFile } from "../files";
import { get } from "../pointer";
import { groupsOf, Keys, listPointer, type Entry } from "./entries";
import type { Preset } from "./actions";

export type View = "list" | "placed" | "text";
export const view = signal<View>("list");
export const expanded = signal<ReadonlySet<string>>(new Set());
export const isSelecting = signal(false);
export const selected = signal<ReadonlySet<string>>(new Set());
/** The entry whose editor takes the focus when it opens. */
export const fresh = signal<string | undefined>(undefined);

const keys = new WeakMap<OpenFile, Keys>();

/** The preset of the file of now; undefined while it loads, or if it has no list of entries. */
export const preset = computed<Preset | undefined>(() => {
  const file = current.value;
  const value = file?.value.value;
  const list = value === undefined ? undefined : listPointer(value);
  if (!file || list === undefined) return undefined;
  let known = keys.get(file);
  if (!known) keys.set(file, (known = new Keys()));
  const items = get(value, list) as unknown[];
  return { file, list, entries: known.of(items, list), groups: groupsOf(value, list) };
});

export function chosenEntries(of: Preset): Entry[] {
  return of.entries.filter(({ key }) => selected.value.has(key));
}

export function open(key: string, isOpen: boolean): void {
  const next = new Set(expanded.value);
  if (isOpen) next.add(key);
  else next.delete(key);
  expanded.value = next;
}

/** Key of the focused entry. Its pointer changes when the entry moves. */
export const focusedKey = signal<string | undefined>(undefined);
/** Number of requests to open the search bar of the text view. */
export const textSearches = signal(0);

/** Puts the focus on an entry once it is drawn. */
export function focusEntry(key: string, part = "main", frames = 30): void {
  requestAnimationFrame(() => {
    const row = document.querySelector(`[data-entry="${key}"]`);
    // A busy machine draws it some frames later.
    if (!row && frames > 0) return focusEntry(key, part, frames - 1);
    const target =
      row?.querySelector<HTMLElement>(`[data-part="${part}"]`) ?? row?.querySelector<HTMLElement>("[data-part=main]");
    target?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: "nearest" });
  });
}

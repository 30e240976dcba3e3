// What the preview shows in this window.
import { signal } from "@preact/signals";
import type { Row } from "../api";

export type InspectorTab = "messages" | "stages" | "decisions" | "body" | "findings";
export const inspectorTab = signal<InspectorTab>("messages");
/** Ids of open rows. */
export const openRows = signal<ReadonlySet<string>>(new Set());
/** Kinds that are not coloured. */
export const plainKinds = signal<ReadonlySet<string>>(new Set());
export const areDisabledShown = signal(false);
/** Scroll positions of the tabs. */
export const scrolls = new Map<InspectorTab, number>();
/** Asks the page Preset to open an entry. */
export const wantedEntry = signal<{ pointer: string; at: number } | undefined>(undefined);

/** Asks the tab of the processors to go to the step of one. */
export const wantedStage = signal<string | undefined>(undefined);

let asked = 0;
export function openEntry(pointer: string): void {
  wantedEntry.value = { pointer, at: ++asked };
}

export interface IdentifiedRow {
  /** The source of the row, which stays the same while its text is edited, and its number among rows of that source. */
  id: string;
  row: Row;
}

export function identified(rows: readonly Row[]): IdentifiedRow[] {
  const seen = new Map<string, number>();
  return rows.map((row) => {
    const source = `${row.n === undefined ? "-" : ""}${row.code}`;
    const count = seen.get(source) ?? 0;
    seen.set(source, count + 1);
    return { id: `${source}/${count}`, row };
  });
}

export function toggled(set: ReadonlySet<string>, item: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(item)) next.add(item);
  return next;
}

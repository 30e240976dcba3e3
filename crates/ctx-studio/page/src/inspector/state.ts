// What the preview shows in this window.
import { signal } from "@preact/signals";

export type InspectorTab = "messages" | "stages" | "decisions" | "body" | "findings";
export const inspectorTab = signal<InspectorTab>("messages");
/** The keys of rows that are open. */
export const openRows = signal<ReadonlySet<string>>(new Set());
/** Kinds that are not coloured. */
export const plainKinds = signal<ReadonlySet<string>>(new Set());
export const areDroppedShown = signal(true);
/** Asks the page Preset to open an entry. */
export const wantedEntry = signal<{ pointer: string; at: number } | undefined>(undefined);

/** Asks the tab of the processors to go to the step of one. */
export const wantedStage = signal<string | undefined>(undefined);

let asked = 0;
export function openEntry(pointer: string): void {
  wantedEntry.value = { pointer, at: ++asked };
}

export function toggled(set: ReadonlySet<string>, item: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(item)) next.add(item);
  return next;
}

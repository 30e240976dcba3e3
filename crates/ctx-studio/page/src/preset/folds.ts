// Folded groups and sections of each file, stored in the browser.
import { computed, signal } from "@preact/signals";
import { current } from "../project";
import { store, stored } from "./stored";

const folds = signal<ReadonlyMap<string, ReadonlySet<string>>>(new Map());

/** Ids of the folded groups and sections of the current file. */
export const folded = computed<ReadonlySet<string>>(() => {
  const id = current.value?.id;
  if (id === undefined) return new Set();
  const ids = folds.value.get(id) ?? stored("folded", id);
  return ids instanceof Set ? ids : new Set(Array.isArray(ids) ? (ids as string[]) : []);
});

export function fold(ids: readonly string[], isFolded: boolean): void {
  const id = current.peek()?.id;
  if (id === undefined) return;
  const next = new Set(folded.peek());
  for (const one of ids) {
    if (isFolded) next.add(one);
    else next.delete(one);
  }
  folds.value = new Map(folds.peek()).set(id, next);
  store("folded", id, [...next]);
}

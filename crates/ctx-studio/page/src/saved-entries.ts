// Finds entries that differ from the saved file. The page has only the draft. It stores fingerprints of the entries
// while the draft equals the file, also across reloads.
import { signal } from "@preact/signals";
import type { FileView } from "./api";
import { isObject } from "./pointer";
import { store, stored } from "./preset/stored";

/** Longer lists are known until the page is closed: the storage of a browser has a limit. */
const MAX_STORED = 10_000;

type Entry = { value: object };

interface SavedFile {
  hash: string;
  /** Fingerprints of the entries. */
  entries: ReadonlySet<string>;
}

const files = signal<ReadonlyMap<string, SavedFile>>(new Map());
const prints = new WeakMap<object, string>();

/** Stores the entries of a file without unsaved changes; otherwise loads the stored ones. */
export function rememberSaved({ id, hash, isDirty }: FileView, entries: readonly Entry[]): void {
  const known = files.peek().get(id);
  if (isDirty) {
    if (known?.hash !== hash) put(id, read(id));
    return;
  }
  if (known?.hash === hash) return;
  const saved = { hash, entries: new Set(entries.map(({ value }) => fingerprint(value))) };
  put(id, saved);
  if (saved.entries.size <= MAX_STORED) store("saved", id, { hash, entries: [...saved.entries] });
}

/** Whether an entry was changed or added since the last save. Undefined if the saved entries are unknown. */
export function isChanged({ id, hash }: FileView, entry: Entry): boolean | undefined {
  const saved = files.value.get(id);
  return saved?.hash === hash ? !saved.entries.has(fingerprint(entry.value)) : undefined;
}

export function isSavedKnown({ id, hash }: FileView): boolean {
  return files.value.get(id)?.hash === hash;
}

function put(id: string, saved: SavedFile | undefined): void {
  if (!saved) return;
  files.value = new Map(files.peek()).set(id, saved);
}

function read(id: string): SavedFile | undefined {
  const saved = stored("saved", id);
  if (!isObject(saved) || typeof saved["hash"] !== "string" || !Array.isArray(saved["entries"])) return undefined;
  return { hash: saved["hash"], entries: new Set(saved["entries"]) };
}

/** A 64-bit hash: two 32-bit hashes with different factors. */
function fingerprint(value: object): string {
  let known = prints.get(value);
  if (known === undefined) {
    let [first, second] = [7, 11];
    for (const unit of JSON.stringify(value)) {
      const code = unit.codePointAt(0) ?? 0;
      first = Math.imul(first ^ code, 0x01000193);
      second = Math.imul(second + code, 0x5bd1e995) ^ (second >>> 15);
    }
    known = (first >>> 0).toString(36) + (second >>> 0).toString(36);
    prints.set(value, known);
  }
  return known;
}

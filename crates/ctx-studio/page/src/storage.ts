// Typed text in the storage of the browser, by keys that name the file that it belongs to.
import { toast } from "./announce";
import { t } from "./language";
import { project } from "./transport";

/** How long drafts of unknown files are kept, in milliseconds. */
const MOST_AGE = 90 * 24 * 60 * 60 * 1000;
const start = () => `ctx-studio/${project}/`;
const parts = (key: string) => key.slice(start().length).split("/");

/** Texts that a full storage does not take. */
const inMemory = new Map<string, string>();
let isReported = false;

/** Writes typed text to the storage of the browser. A full storage does not stop typing, but is reported once. */
export function keep(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
    inMemory.delete(key);
  } catch {
    inMemory.set(key, text);
    if (!isReported) toast(t().storageFull, "error");
    isReported = true;
  }
}

export function kept(key: string): string | null {
  return inMemory.get(key) ?? localStorage.getItem(key);
}

export function drop(key: string): void {
  inMemory.delete(key);
  localStorage.removeItem(key);
}

/** The keys of this project that start with a text. */
export function keysOf(text = start()): string[] {
  return [...new Set([...Object.keys(localStorage), ...inMemory.keys()])].filter((key) => key.startsWith(text));
}

/** Moves everything that is kept for a renamed file, or deletes it if `next` is empty. */
export function moveKeys(file: string, next: string): void {
  for (const key of keysOf()) {
    if (!parts(key).includes(file)) continue;
    const moved = parts(key).map((part) => (part === file ? next : part));
    const text = kept(key) ?? "";
    drop(key);
    if (next !== "") keep(start() + moved.join("/"), text);
  }
}

/** Deletes what is kept for unknown files. Their drafts stay for 90 days, since the files may come back. */
export function prune(files: ReadonlySet<string>): void {
  for (const key of keysOf()) {
    const [kind, file = ""] = parts(key);
    if (file === "" || files.has(file)) continue;
    if (kind === "saved" || kind === "folded" || (kind === "draft" && isOld(key))) localStorage.removeItem(key);
  }
}

function isOld(key: string): boolean {
  try {
    const { at } = JSON.parse(localStorage.getItem(key) ?? "{}") as { at?: number };
    return !(Number(at) > Date.now() - MOST_AGE);
  } catch {
    return true;
  }
}

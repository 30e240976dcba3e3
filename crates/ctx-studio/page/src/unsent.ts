// Edits that the server has not acknowledged, kept in `localStorage` so that a crash or a reload loses none.
import type { Batch, EditClash } from "./rebase";
import { isObject } from "./pointer";
import { toast } from "./announce";
import { t } from "./language";
import { project, setWindowId } from "./transport";

export interface Kept {
  file: string;
  path: string;
  batches: Batch[];
  /** Typed texts of removed entries. */
  lost: EditClash[];
}

const WINDOW = "ctx-studio/window";
let own = "";

const prefix = () => `ctx-studio/${project}/unsent/`;

let isFull = false;

/** Writes typed text to the storage of the browser. A full storage does not stop typing, but is reported once. */
export function keep(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    isFull = false;
  } catch {
    if (!isFull) toast(t().storageFull, "error");
    isFull = true;
  }
}

const MOST_AGE = 90 * 24 * 60 * 60 * 1000;
const parts = (key: string) => key.slice(`ctx-studio/${project}/`.length).split("/");
const ownKeys = () => Object.keys(localStorage).filter((key) => key.startsWith(`ctx-studio/${project}/`));

/** Moves everything that is kept for a renamed file, or deletes it if `next` is empty. */
export function moveKeys(file: string, next: string): void {
  for (const key of ownKeys()) {
    const moved = parts(key).map((part) => (part === file ? next : part));
    if (!parts(key).includes(file)) continue;
    const value = localStorage.getItem(key) ?? "";
    localStorage.removeItem(key);
    if (next !== "") localStorage.setItem(`ctx-studio/${project}/${moved.join("/")}`, value);
  }
}

/** Deletes what is kept for unknown files. Their drafts stay for 90 days, since the files may come back. */
export function prune(files: ReadonlySet<string>): void {
  for (const key of ownKeys()) {
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

export function remember({ file, ...kept }: Kept): void {
  keep(`${prefix()}${own}/${file}`, kept);
}

export function forget(file: string): void {
  localStorage.removeItem(`${prefix()}${own}/${file}`);
}

/** Gives this window its id. A copied tab has the id of its origin, which still holds the lock: it gets a new one. */
export async function identify(): Promise<void> {
  const before = sessionStorage.getItem(WINDOW);
  own = before && (await hold(before)) ? before : await fresh();
  sessionStorage.setItem(WINDOW, own);
  setWindowId(own);
}

/** Whether a window is closed. */
export async function isClosed(window: string): Promise<boolean> {
  return !(await openWindows()).has(lockName(window));
}

/** The locks of the windows that are open. */
export async function openWindows(): Promise<ReadonlySet<string | undefined>> {
  const state = await navigator.locks.query();
  return new Set((state.held ?? []).map((lock) => lock.name));
}

/** What this window, and windows that are gone, left behind. */
export function leftBehind(alive: ReadonlySet<string | undefined>): Kept[] {
  const found: Kept[] = [];
  for (const key of Object.keys(localStorage).filter((key) => key.startsWith(prefix()))) {
    const [window = "", ...rest] = key.slice(prefix().length).split("/");
    const file = rest.join("/");
    if (window !== own && alive.has(lockName(window))) continue;
    try {
      const kept = JSON.parse(localStorage.getItem(key) ?? "null") as Omit<Kept, "file">;
      if (isObject(kept)) found.push({ ...kept, file });
    } catch {
      // Not ours.
    }
    localStorage.removeItem(key);
  }
  return found;
}

const lockName = (window: string) => `ctx-studio-window-${window}`;

async function fresh(): Promise<string> {
  const id = crypto.randomUUID().slice(0, 8);
  await hold(id);
  return id;
}

/** Holds the lock of a window id until the window closes; false if another window has it. */
function hold(id: string): Promise<boolean> {
  return new Promise((resolve) => {
    void navigator.locks.request(lockName(id), { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock ? new Promise<void>(() => {}) : undefined;
    });
  });
}

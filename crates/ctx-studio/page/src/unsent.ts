// Edits that the server has not acknowledged, kept in `localStorage` so that a crash or a reload loses none.
import type { Batch, EditClash } from "./rebase";
import { isObject } from "./pointer";
import { drop, keep } from "./storage";
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

export function remember({ file, ...kept }: Kept): void {
  keep(`${prefix()}${own}/${file}`, JSON.stringify(kept));
}

export function forget(file: string): void {
  drop(`${prefix()}${own}/${file}`);
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

// View state of a file, stored in the browser.
import { project } from "../transport";

export type StoredName = "folded" | "saved" | "scroll";

const keyOf = (name: StoredName, file: string) => `ctx-studio/${project}/${name}/${file}`;

export function store(name: StoredName, file: string, value: unknown, into: Storage = localStorage): void {
  try {
    into.setItem(keyOf(name, file), JSON.stringify(value));
  } catch {
    // The storage is full or disabled: the state lasts until the page is closed.
  }
}

/** Returns undefined for missing or malformed values. */
export function stored(name: StoredName, file: string, from: Storage = localStorage): unknown {
  try {
    return JSON.parse(from.getItem(keyOf(name, file)) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

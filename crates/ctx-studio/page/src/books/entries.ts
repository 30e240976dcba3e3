// The entries of a worldbook's file, as the page Books needs them.
import type { Edit } from "../api";
import { isObject, join } from "../pointer";

export interface BookEntry {
  /** The pointer, which names it: entries are not moved. */
  pointer: string;
  uid: string;
  value: Record<string, unknown>;
}

/** The entries of our form, which is SillyTavern's too; undefined for a book of another application. */
export function entriesOf(value: unknown): BookEntry[] | undefined {
  const entries = isObject(value) ? value["entries"] : undefined;
  if (!isObject(entries) && !Array.isArray(entries)) return undefined;
  const all = Object.entries(entries).flatMap(([key, entry]): BookEntry[] =>
    isObject(entry) ? [{ pointer: join("/entries", key), uid: String(entry["uid"] ?? key), value: entry }] : [],
  );
  // Cards and other applications say `keys`.
  return all.some(({ value }) => "keys" in value) ? undefined : all;
}

export function flag({ value }: BookEntry, name: string): boolean {
  const found = value[name];
  return found === true || found === 1 || found === "true" || found === "1";
}

export function numberAt({ value }: BookEntry, name: string): number | undefined {
  const found = value[name];
  const number = typeof found === "string" && found.trim() !== "" ? Number(found) : found;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

export function textAt({ value }: BookEntry, name: string): string {
  const found = value[name];
  return typeof found === "string" ? found : "";
}

/** A list of keys, also one text in which commas divide them. */
export function keysAt({ value }: BookEntry, name: string): string[] {
  const found = value[name];
  if (Array.isArray(found)) return found.map(String);
  return typeof found === "string" ? found.split(",").map((key) => key.trim()) : [];
}

/** The number of a place, which may be written as a name. */
export function positionOf(entry: BookEntry): number {
  const found = entry.value["position"];
  const names = ["beforechar", "afterchar", "antop", "anbottom", "atdepth", "emtop", "embottom", "outlet"];
  const named = typeof found === "string" ? names.indexOf(found.toLowerCase().replace(/[^a-z]/g, "")) : -1;
  return named >= 0 ? named : (numberAt(entry, "position") ?? 0);
}

export const AT_DEPTH = 4;
export const OUTLET = 7;

export function titleOf(entry: BookEntry): string {
  return textAt(entry, "comment") || keysAt(entry, "key").slice(0, 3).join(", ") || entry.uid;
}

/** Sets a field of entries; those that have it already are left alone. */
export function setAll(entries: readonly BookEntry[], name: string, value: unknown): Edit[] {
  return entries
    .filter((entry) => JSON.stringify(entry.value[name]) !== JSON.stringify(value))
    .map(({ pointer }) => ({ op: "set", pointer: join(pointer, name), value }));
}

/** A field that says nothing is taken away. */
export function setOne(entry: BookEntry, name: string, value: unknown): Edit[] {
  if (value !== undefined) return setAll([entry], name, value);
  return name in entry.value ? [{ op: "remove", pointer: join(entry.pointer, name) }] : [];
}

/** A new entry, with the next free number. */
export function added(value: unknown, entries: readonly BookEntry[]): { pointer: string; edit: Edit } {
  const numbers = entries.map(({ uid }) => Number(uid)).filter(Number.isInteger);
  const uid = Math.max(-1, ...numbers) + 1;
  const list = isObject(value) ? value["entries"] : undefined;
  const pointer = join("/entries", Array.isArray(list) ? list.length : uid);
  const entry = { uid, key: [], keysecondary: [], comment: "", content: "", order: 100, position: 0, disable: false };
  return { pointer, edit: { op: "insert", pointer, value: entry } };
}

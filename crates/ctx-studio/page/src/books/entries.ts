// The entries of a worldbook's file, as the page Books needs them.
import type { Edit, Finding } from "../api";
import { isObject, join, tokens } from "../pointer";

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
  // Cards and other applications say `keys`; some write both.
  return all.some(({ value }) => "keys" in value && !("key" in value)) ? undefined : all;
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
/** Roles of entries at a depth, by their number. */
export const ROLES = ["system", "user", "assistant"];
export const OUTLET = 7;

export function titleOf(entry: BookEntry): string {
  return textAt(entry, "comment") || keysAt(entry, "key").slice(0, 3).join(", ") || entry.uid;
}

/** In percent; undefined if it is not limited. */
export function probabilityOf(entry: BookEntry): number | undefined {
  const isUsed = flag(entry, "useProbability") || !("useProbability" in entry.value);
  const probability = isUsed ? numberAt(entry, "probability") : undefined;
  return probability !== undefined && probability < 100 ? probability : undefined;
}

/** The diagnostics of each entry, by its pointer. */
export function findingsByEntry(all: readonly Finding[]): Map<string, Finding[]> {
  const found = new Map<string, Finding[]>();
  for (const finding of all) {
    const pointer = /^\/entries\/[^/]+/.exec(finding.pointer ?? "")?.[0];
    if (pointer === undefined) continue;
    const others = found.get(pointer);
    if (others) others.push(finding);
    else found.set(pointer, [finding]);
  }
  return found;
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
export function added(value: unknown): { pointer: string; edit: Edit } {
  const { op, pointer, uid } = placesIn(value)();
  const entry = { uid, key: [], keysecondary: [], comment: "", content: "", order: 100, position: 0, disable: false };
  return { pointer, edit: { op, pointer, value: entry } };
}

/** Insertions of copies into a book. All fields are kept; a taken UID becomes the next free one. */
export function copied(entries: readonly BookEntry[], value: unknown): Edit[] {
  const next = placesIn(value);
  return entries.map((entry) => {
    const { op, pointer, uid } = next(entry.uid);
    return { op, pointer, value: { ...entry.value, uid } };
  });
}

/** Returns places for new entries at the end of a book, with the wanted UID if it is free. */
function placesIn(value: unknown): (wanted?: string) => { op: "insert" | "set"; pointer: string; uid: number } {
  const list = isObject(value) ? value["entries"] : undefined;
  const entries = entriesOf(value) ?? [];
  const isList = Array.isArray(list);
  const taken = new Set(entries.flatMap(({ uid, pointer }) => (isList ? [uid] : [uid, tokens(pointer).at(-1) ?? ""])));
  let free = 0;
  for (const uid of taken) if (Number.isSafeInteger(Number(uid))) free = Math.max(free, Number(uid) + 1);
  let length = isList ? list.length : 0;
  return (wanted) => {
    const isFree = wanted !== undefined && /^\d{1,9}$/.test(wanted) && !taken.has(wanted);
    const uid = isFree ? Number(wanted) : free;
    taken.add(String(uid));
    free = Math.max(free, uid + 1);
    return isList
      ? { op: "insert", pointer: join("/entries", length++), uid }
      : { op: "set", pointer: join("/entries", uid), uid };
  };
}

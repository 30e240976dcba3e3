// JSON pointers, and the small edits of a value that the server knows.
import type { Edit } from "./api";

export function tokens(pointer: string): string[] {
  if (pointer === "") return [];
  return pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export function join(base: string, ...parts: (string | number)[]): string {
  return parts.reduce<string>(
    (all, part) => `${all}/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`,
    base,
  );
}

export function get(value: unknown, pointer: string): unknown {
  let at = value;
  for (const token of tokens(pointer)) {
    if (Array.isArray(at)) at = at[Number(token)];
    else if (isObject(at)) at = at[token];
    else return undefined;
  }
  return at;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The id of an item of a list. */
export function idOf(value: unknown): string | number | undefined {
  const id = isObject(value) ? (value["id"] ?? value["uid"]) : undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

/** Applies edits to a value and leaves the old value as it was; parts that do not change stay the same objects. */
export function apply(value: unknown, edits: readonly Edit[]): unknown {
  const draft = new Draft(value);
  for (const edit of edits) draft.make(edit);
  return draft.value;
}

/** A set that knows how often it contains a key. */
class Counts<Key> extends Map<Key, number> {
  add(key: Key, count: 1 | -1): void {
    this.set(key, (this.get(key) ?? 0) + count);
  }
}

/** What a list contains. */
interface Contents {
  ids: Counts<unknown>;
  /** The items as JSON, once they were asked for. */
  texts?: Counts<string>;
  /** Distance of the latest found item from where it was expected. */
  shift: number;
}

/** A value that edits change. Each list or object that changes is copied once, so many edits take linear time. */
export class Draft {
  readonly #own = new Set<unknown>();
  readonly #contents = new Map<readonly unknown[], Contents>();

  constructor(public value: unknown) {}

  make(edit: Edit): void {
    const path = tokens(edit.pointer);
    switch (edit.op) {
      case "set":
        return this.#set(path, edit.value);
      case "remove":
        return this.#remove(path);
      case "insert":
        return this.#insert(path, edit.value);
      case "move": {
        const item = get(this.value, edit.pointer);
        this.#remove(path);
        return this.#insert(tokens(edit.to), item);
      }
      case "rename":
        return this.#rename(path, edit.name);
    }
  }

  /** Number of items of a list with an id. */
  count(list: readonly unknown[], id: unknown): number {
    return this.#contentsOf(list).ids.get(id) ?? 0;
  }

  /** Index of the item with an id that is nearest to where it is expected, or -1. */
  indexOf(list: readonly unknown[], id: unknown, expected: number): number {
    if (this.count(list, id) === 0) return -1;
    const contents = this.#contentsOf(list);
    // Neighbors are moved by the same distance.
    const start = Number.isSafeInteger(expected) ? Math.min(Math.max(0, expected + contents.shift), list.length) : 0;
    for (let away = 0; away <= list.length; away++) {
      const index = [start - away, start + away].find((at) => at in list && idOf(list[at]) === id);
      if (index === undefined) continue;
      contents.shift = index - expected || 0;
      return index;
    }
    return -1;
  }

  /** Whether a list has an item like this one. */
  contains(list: readonly unknown[], item: unknown): boolean {
    const contents = this.#contentsOf(list);
    if (!contents.texts) {
      contents.texts = new Counts();
      for (const one of list) contents.texts.add(textOf(one), 1);
    }
    return (contents.texts.get(textOf(item)) ?? 0) > 0;
  }

  #contentsOf(list: readonly unknown[]): Contents {
    let contents = this.#contents.get(list);
    if (!contents) {
      contents = { ids: new Counts(), shift: 0 };
      for (const item of list) contents.ids.add(idOf(item), 1);
      this.#contents.set(list, contents);
    }
    return contents;
  }

  #note(list: unknown, item: unknown, count: 1 | -1): void {
    const contents = Array.isArray(list) ? this.#contents.get(list) : undefined;
    contents?.ids.add(idOf(item), count);
    contents?.texts?.add(textOf(item), count);
  }

  #set(path: readonly string[], value: unknown): void {
    const last = path.at(-1);
    if (last === undefined) return void (this.value = value);
    const parent = this.#parent(path, last);
    if (Array.isArray(parent)) {
      const index = Number(last);
      if (index in parent) this.#note(parent, parent[index], -1);
      parent[index] = value;
      this.#note(parent, value, 1);
    } else put(parent, last, value);
  }

  #remove(path: readonly string[]): void {
    const last = path.at(-1);
    if (last === undefined) return void (this.value = undefined);
    if (!this.#has(path)) return;
    const parent = this.#parent(path, last);
    if (!Array.isArray(parent)) return void delete parent[last];
    const index = Number(last);
    if (!(index in parent)) return;
    this.#note(parent, parent[index], -1);
    parent.splice(index, 1);
  }

  #insert(path: readonly string[], item: unknown): void {
    const last = path.at(-1);
    if (last === undefined) return void (this.value = item);
    const parent = this.#parent(path, last);
    if (!Array.isArray(parent)) return put(parent, last, item);
    parent.splice(last === "-" ? parent.length : Number(last), 0, item);
    this.#note(parent, item, 1);
  }

  #rename(path: readonly string[], name: string): void {
    const last = path.at(-1);
    if (last === undefined || !this.#has(path)) return;
    const parent = this.#parent(path, last);
    if (Array.isArray(parent)) return;
    // The new name may be that of the id.
    this.#contents.clear();
    const all = Object.entries(parent);
    for (const [key] of all) delete parent[key];
    for (const [key, item] of all) put(parent, key === last ? name : key, item);
  }

  /** Whether a list or object is above the end of a path. */
  #has(path: readonly string[]): boolean {
    const above = get(this.value, join("", ...path.slice(0, -1)));
    return Array.isArray(above) || isObject(above);
  }

  /** The list or object above the end of a path, as a copy that may change. What is missing on the way becomes an object. */
  #parent(path: readonly string[], last: string): unknown[] | Record<string, unknown> {
    let at = this.#copied(this.value);
    this.value = at;
    for (const token of path.slice(0, -1)) {
      if (Array.isArray(at)) {
        // The item changes, and with it what is known of it.
        const contents = this.#contents.get(at);
        if (contents) contents.texts = undefined;
        if (last === "id" || last === "uid") this.#contents.delete(at);
      }
      const inner = this.#copied(at[token as keyof typeof at]);
      if (Array.isArray(at)) at[Number(token)] = inner;
      else put(at, token, inner);
      at = inner;
    }
    return at;
  }

  #copied(value: unknown): unknown[] | Record<string, unknown> {
    if (this.#own.has(value)) return value as unknown[] | Record<string, unknown>;
    const copy = Array.isArray(value) ? [...(value as unknown[])] : isObject(value) ? { ...value } : {};
    this.#own.add(copy);
    const contents = Array.isArray(value) ? this.#contents.get(value) : undefined;
    if (contents && Array.isArray(copy)) this.#contents.set(copy, contents);
    return copy;
  }
}

function textOf(value: unknown): string {
  return JSON.stringify(value) ?? "";
}

/** Sets a key, also one that JavaScript would take for the prototype. */
function put(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

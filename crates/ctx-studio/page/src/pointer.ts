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

/** Applies edits to a value and leaves the old value as it was; parts that do not change stay the same objects. */
export function apply(value: unknown, edits: readonly Edit[]): unknown {
  return edits.reduce(applyOne, value);
}

function applyOne(value: unknown, edit: Edit): unknown {
  const path = tokens(edit.pointer);
  switch (edit.op) {
    case "set":
      return changed(value, path, () => edit.value);
    case "remove":
      return removed(value, path);
    case "insert":
      return inserted(value, path, edit.value);
    case "move": {
      const item = get(value, edit.pointer);
      return inserted(removed(value, path), tokens(edit.to), item);
    }
    case "rename":
      return renamed(value, path, edit.name);
  }
}

function changed(value: unknown, path: string[], change: (old: unknown) => unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return change(value);
  if (Array.isArray(value)) {
    const copy = [...value];
    copy[Number(first)] = changed(copy[Number(first)], rest, change);
    return copy;
  }
  const object = isObject(value) ? value : {};
  return { ...object, [first]: changed(object[first], rest, change) };
}

function removed(value: unknown, path: string[]): unknown {
  const last = path.at(-1);
  if (last === undefined) return undefined;
  return changed(value, path.slice(0, -1), (parent) => {
    if (Array.isArray(parent)) return parent.filter((_, index) => index !== Number(last));
    if (!isObject(parent)) return parent;
    return Object.fromEntries(Object.entries(parent).filter(([key]) => key !== last));
  });
}

function inserted(value: unknown, path: string[], item: unknown): unknown {
  const last = path.at(-1);
  if (last === undefined) return item;
  return changed(value, path.slice(0, -1), (parent) => {
    if (Array.isArray(parent)) return parent.toSpliced(last === "-" ? parent.length : Number(last), 0, item);
    return { ...(isObject(parent) ? parent : {}), [last]: item };
  });
}

function renamed(value: unknown, path: string[], name: string): unknown {
  const last = path.at(-1);
  return changed(value, path.slice(0, -1), (parent) => {
    if (!isObject(parent)) return parent;
    return Object.fromEntries(Object.entries(parent).map(([key, item]) => [key === last ? name : key, item]));
  });
}

/** Whether edits that were made for one value reach the same items of lists in another, and not their neighbours. */
export function reachSame(before: unknown, after: unknown, edits: readonly Edit[]): boolean {
  return edits.every((edit) => {
    // An insertion names a place between items.
    const path = edit.op === "insert" ? tokens(edit.pointer).slice(0, -1) : tokens(edit.pointer);
    const isSame = isSamePlace(before, after, path);
    before = applyOne(before, edit);
    after = applyOne(after, edit);
    return isSame;
  });
}

/** Whether another version has the same at the places of edits, so that none of them is made over something newer. */
export function isUntouched(before: unknown, after: unknown, edits: readonly Edit[]): boolean {
  const isSame = (pointer: string) => JSON.stringify(get(before, pointer)) === JSON.stringify(get(after, pointer));
  const places = new Set<string>();
  return edits.every((edit) => {
    // What these edits have changed themselves says nothing about others.
    const isOwn = [...places].some((place) => overlaps(place, edit.pointer));
    if (edit.op === "insert" || edit.op === "move") places.add(edit.pointer.slice(0, edit.pointer.lastIndexOf("/")));
    else places.add(edit.pointer);
    return isOwn || (edit.op === "insert" ? true : isSame(edit.pointer));
  }) && reachSame(before, after, edits);
}

function isSamePlace(before: unknown, after: unknown, path: readonly string[]): boolean {
  for (const token of path) {
    if (Array.isArray(before) !== Array.isArray(after)) return false;
    if (Array.isArray(before) && Array.isArray(after) && !isSameItem(before, after, Number(token))) return false;
    before = get(before, join("", token));
    after = get(after, join("", token));
  }
  return true;
}

/** An id that is there once names an item; others are the same if nothing else in their lists differs. */
function isSameItem(before: readonly unknown[], after: readonly unknown[], index: number): boolean {
  const id = idOf(before[index]);
  if (id !== idOf(after[index])) return false;
  const isUnique = (list: readonly unknown[]) => list.filter((item) => idOf(item) === id).length === 1;
  if (id !== undefined && isUnique(before) && isUnique(after)) return true;
  const text = (list: readonly unknown[]) => JSON.stringify(list.filter((_, place) => place !== index));
  return index < after.length && before.length === after.length && text(before) === text(after);
}

function idOf(value: unknown): string | undefined {
  return isObject(value) && typeof value["id"] === "string" ? value["id"] : undefined;
}

/** Whether an edit at one place may change what stands at the other. */
export function overlaps(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}

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

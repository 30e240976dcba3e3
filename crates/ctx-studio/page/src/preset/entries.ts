// The entries of an agent's file, as the page Preset needs them.
import { get, isObject, join } from "../pointer";

/** One entry as it stands in the file. */
export interface Entry {
  /** Names the entry while the page lives: ids may be missing or double, and the index changes. */
  key: string;
  index: number;
  pointer: string;
  value: Record<string, unknown>;
}

export interface Group {
  id: string;
  name: string;
  isRadio: boolean;
  isEnabled: boolean;
  pointer: string;
}

/** Where the list of entries stands in a file, or undefined if it has none. */
export function listPointer(value: unknown): string | undefined {
  if (Array.isArray(value)) return "";
  if (!isObject(value)) return undefined;
  for (const name of ["presetMessages", "messages"]) if (Array.isArray(value[name])) return `/${name}`;
  if (Array.isArray(value["agents"]) && isObject(value["agents"][0])) {
    const inner = listPointer(value["agents"][0]);
    return inner === undefined ? undefined : `/agents/0${inner}`;
  }
  return undefined;
}

export function groupsOf(value: unknown, list: string): Group[] {
  const base = list.replace(/\/[^/]*$/, "");
  const groups = get(value, `${base}/presetGroups`);
  if (!Array.isArray(groups)) return [];
  return groups.flatMap((group, index) => {
    if (!isObject(group) || typeof group["id"] !== "string") return [];
    return [
      {
        id: group["id"],
        name: typeof group["name"] === "string" ? group["name"] : group["id"],
        isRadio: group["selectionMode"] === "radio",
        isEnabled: group["enabled"] !== false,
        pointer: join(base, "presetGroups", index),
      },
    ];
  });
}

let made = 0;

/** Gives keys to the entries of a list: an entry that was there before keeps its key, wherever it stands now. */
export class Keys {
  #before: Entry[] = [];

  /** Entries that did not change stay the same objects, so that only the others are drawn again. */
  of(list: readonly unknown[], base: string): Entry[] {
    const found: (Entry | undefined)[] = list.map(() => undefined);
    const free = new Set(this.#before);
    const claim = <Name>(nameOf: (value: unknown, index: number) => Name | undefined) => {
      const named = new Map<Name, Entry[]>();
      // The first of equal ones is taken from the end.
      for (const old of [...free].reverse()) {
        const name = nameOf(old.value, old.index);
        if (name === undefined) continue;
        const others = named.get(name);
        if (others) others.push(old);
        else named.set(name, [old]);
      }
      list.forEach((value, index) => {
        const name = found[index] ? undefined : nameOf(value, index);
        const old = name === undefined ? undefined : named.get(name)?.pop();
        if (!old) return;
        found[index] = old;
        free.delete(old);
      });
    };
    // By text and place, by text, by id, then by place. An element that moves loses the focus.
    claim((value, index) => `${index} ${textOf(value)}`);
    if (free.size > 0) claim(textOf);
    if (free.size > 0) claim(idOf);
    if (free.size > 0) claim((_value, index) => index);
    this.#before = list.map((value, index): Entry => {
      const old = found[index];
      const pointer = join(base, index);
      if (old && old.pointer === pointer && textOf(old.value) === textOf(value)) return old;
      return { key: old?.key ?? `e${++made}`, index, pointer, value: isObject(value) ? value : {} };
    });
    return this.#before;
  }
}

const texts = new WeakMap<object, string>();

function textOf(value: unknown): string {
  if (!isObject(value)) return "{}";
  let text = texts.get(value);
  if (text === undefined) texts.set(value, (text = JSON.stringify(value)));
  return text;
}

function idOf(value: unknown): string | undefined {
  return isObject(value) && typeof value["id"] === "string" ? value["id"] : undefined;
}

export function textField(entry: Entry, name: string): string {
  const value = entry.value[name];
  return typeof value === "string" ? value : "";
}

/** The text of an entry; of a list of parts, its texts. */
export function contentOf(entry: Entry): string {
  const content = entry.value["content"];
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : "")).join("\n");
}

export function hasParts(entry: Entry): boolean {
  return Array.isArray(entry.value["content"]);
}

export function isOn(entry: Entry): boolean {
  return entry.value["isEnabled"] !== false && entry.value["enabled"] !== false;
}

/** The type of an anchor; undefined for an ordinary message. */
export function anchorType(entry: Entry): string | undefined {
  const type = textField(entry, "type").trim();
  return type === "" || type === "message" ? undefined : type;
}

/** The name by which other entries place themselves at an anchor. */
export function anchorName(entry: Entry): string | undefined {
  const type = anchorType(entry);
  return type === "placeholder" ? textField(entry, "id").trim() || undefined : type;
}

export function roleOf(entry: Entry): string {
  return textField(entry, "role") || "user";
}

/** What a person calls it. */
export function titleOf(entry: Entry): string {
  return textField(entry, "name") || textField(entry, "id") || "";
}

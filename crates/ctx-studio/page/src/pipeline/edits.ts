// How the settings of a processor are written into the file of a layer.
import type { Edit, EffectiveSetting, ProcessorInfo, SettingsLayerView } from "../api";
import { get, isObject, join } from "../pointer";
import { isSame } from "../rebase";

/** What a setting of a processor becomes; a value that is that of the processor itself is not stored. */
export interface Change {
  enabled?: boolean;
  priority?: number;
  config?: Record<string, unknown>;
}

/** Where the layer has its entry of a processor. What was just written is in the file before the server tells of it; an
 * entry under an older name, such as `post:` before the id, only the server finds. */
export function entryOf(layer: SettingsLayerView, file: unknown, id: string): string | undefined {
  const pointer = join(layer.base, "processors");
  const list = get(file, pointer);
  const at = Array.isArray(list) ? list.findLastIndex((one) => isObject(one) && one["id"] === id) : -1;
  if (at >= 0) return join(pointer, at);
  const told = layer.entries[id];
  const name = told === undefined ? undefined : get(file, join(told, "id"));
  return typeof name === "string" && name.endsWith(`:${id}`) ? told : undefined;
}

/** The edits that make a change. The first one in a layer copies what holds there, as its entry then decides as a whole. */
export function changeEdits(
  layer: SettingsLayerView,
  file: unknown,
  { setting, about, change }: { setting: EffectiveSetting; about: ProcessorInfo; change: Change },
): Edit[] {
  const entry = entryOf(layer, file, setting.id);
  if (entry === undefined) return insertEdits(layer, file, stored(setting, about, change));
  const { config, ...rest } = change;
  return [
    ...Object.entries(rest).flatMap(([name, value]) => put(file, join(entry, name), value, builtIn(about, name))),
    ...configEdits(file, join(entry, "config"), config ?? {}, about),
  ];
}

function builtIn(about: ProcessorInfo, name: string): unknown {
  return name === "enabled" ? about.isOn : about.priority;
}

function configEdits(file: unknown, pointer: string, config: Record<string, unknown>, about: ProcessorInfo): Edit[] {
  const keys = Object.entries(config);
  if (keys.length === 0) return [];
  if (isObject(get(file, pointer)))
    return keys.flatMap(([key, value]) => put(file, join(pointer, key), value, defaultOf(about, key)));
  const kept = keys.filter(([key, value]) => !isSame(value, defaultOf(about, key)));
  return kept.length === 0 ? [] : [{ op: "set", pointer, value: Object.fromEntries(kept) }];
}

function put(file: unknown, pointer: string, value: unknown, own: unknown): Edit[] {
  const before = get(file, pointer);
  if (isSame(value, own)) return before === undefined ? [] : [removal(file, pointer)];
  return isSame(before, value) ? [] : [{ op: "set", pointer, value }];
}

/** The entry with what holds now and the change, without what is built in. */
function stored({ id, enabled, priority, config }: EffectiveSetting, about: ProcessorInfo, change: Change): object {
  const all = Object.fromEntries(config.map(({ key, value }) => [key, value]));
  const kept = Object.entries({ ...all, ...change.config }).filter(
    ([key, value]) => !isSame(value, defaultOf(about, key)),
  );
  const isOn = change.enabled ?? enabled.value;
  const at = change.priority ?? priority.value;
  return {
    id,
    ...(isOn === about.isOn ? {} : { enabled: isOn }),
    ...(at === about.priority ? {} : { priority: at }),
    ...(kept.length === 0 ? {} : { config: Object.fromEntries(kept) }),
  };
}

function insertEdits({ base }: SettingsLayerView, file: unknown, entry: object): Edit[] {
  const pointer = join(base, "processors");
  const list = get(file, pointer);
  if (Array.isArray(list)) return [{ op: "insert", pointer: join(pointer, list.length), value: entry }];
  if (base === "" || isObject(get(file, base))) return [{ op: "set", pointer, value: [entry] }];
  return [{ op: "set", pointer: base, value: { processors: [entry] } }];
}

/** Removes a value, and the objects and lists that would be empty without it. */
export function removal(file: unknown, pointer: string): Edit {
  const above = pointer.slice(0, pointer.lastIndexOf("/"));
  const parent = get(file, above);
  const size = Array.isArray(parent) ? parent.length : isObject(parent) ? Object.keys(parent).length : 0;
  return above !== "" && size === 1 ? removal(file, above) : { op: "remove", pointer };
}

/** Whether the entry of a processor sets nothing. */
export function isBare(layer: SettingsLayerView, file: unknown, id: string): boolean {
  const entry = entryOf(layer, file, id);
  const value = entry === undefined ? undefined : get(file, entry);
  return isObject(value) && Object.keys(value).length === 1;
}

/** Edits that remove entries. They remove an empty list too, as if no entry had been set. A file with the settings of a
 * model keeps its list, which makes it such a file. */
export function resetEdits(layer: SettingsLayerView, file: unknown, ids: readonly string[]): Edit[] {
  const pointer = join(layer.base, "processors");
  const list = get(file, pointer);
  const found = new Set(ids.flatMap((id) => entryOf(layer, file, id) ?? []));
  const wanted = [...found].filter((entry) => entry.startsWith(`${pointer}/`));
  if (wanted.length === 0) return [];
  const isEmptied = Array.isArray(list) && wanted.length === list.length;
  if (isEmptied && layer.origin !== "model") return [removal(file, pointer)];
  const place = (entry: string) => Number(entry.slice(pointer.length + 1));
  // From the end, as those behind one that goes move up.
  return wanted.toSorted((a, b) => place(b) - place(a)).map((pointer) => ({ op: "remove" as const, pointer }));
}

function defaultOf(about: ProcessorInfo, key: string): unknown {
  return about.fields.find((field) => field.key === key)?.default;
}

/** The priorities with which one stands at another place of the list: its own, and those of others that must make room. */
export function moved(settings: readonly EffectiveSetting[], from: number, to: number): Map<string, number> {
  const item = settings[from];
  const others = settings.filter((_, at) => at !== from);
  const at = to > from ? to - 1 : to;
  const wanted = new Map<string, number>();
  if (!item || at === from) return wanted;
  const before = others[at - 1]?.priority.value;
  const after = others[at]?.priority.value;
  if (before !== undefined && after !== undefined && after - before >= 2) {
    wanted.set(item.id, Math.floor((before + after) / 2));
    return wanted;
  }
  if (before === undefined) {
    wanted.set(item.id, (after ?? 1) - 1);
    return wanted;
  }
  let last = before + 1;
  wanted.set(item.id, last);
  for (const { id, priority } of others.slice(at)) {
    if (priority.value > last) break;
    wanted.set(id, ++last);
  }
  return wanted;
}

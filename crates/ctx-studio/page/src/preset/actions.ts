// What can be done to the entries of a preset, as edits of its file.
import type { AnchorInfo, Edit } from "../api";
import type { OpenFile } from "../files";
import { isObject, join } from "../pointer";
import { isOn, type Entry, type Group } from "./entries";

/** A preset as it is shown: the file, where its list stands, and what is in it. */
export interface Preset {
  file: OpenFile;
  list: string;
  entries: Entry[];
  groups: Group[];
}

/** Moves an entry to the place before `to` in the list as it stands (`entries.length`: to the end). */
export function moveEdits({ list, entries }: Preset, chosen: readonly Entry[], to: number): Edit[] {
  const edits: Edit[] = [];
  const order = entries.map((entry) => entry.key);
  const before = entries.slice(to).find((entry) => !chosen.includes(entry))?.key;
  for (const { key } of [...chosen].sort((a, b) => a.index - b.index)) {
    const from = order.indexOf(key);
    order.splice(from, 1);
    const target = before === undefined ? order.length : order.indexOf(before);
    order.splice(target, 0, key);
    if (from !== target) edits.push({ op: "move", pointer: join(list, from), to: join(list, target) });
  }
  return edits;
}

export function insertEdits({ list, entries }: Preset, value: unknown, after: Entry | undefined): Edit[] {
  return [{ op: "insert", pointer: join(list, after ? after.index + 1 : entries.length), value }];
}

export function newMessage(group?: string): Record<string, unknown> {
  return { role: "system", content: "", ...(group ? { groupId: group } : {}) };
}

export function newAnchor(anchor: AnchorInfo, id?: string): Record<string, unknown> {
  if (anchor.id === "placeholder") return { id: id ?? "place", type: "placeholder" };
  if (anchor.kind === "placeholder") return { type: anchor.id };
  return { type: anchor.id, role: anchor.role || "system", content: anchor.template ?? "" };
}

/** A copy with an id and a name of its own. */
export function copyOf(entry: Entry, entries: readonly Entry[], suffix: string): Record<string, unknown> {
  const copy = structuredClone(entry.value);
  const ids = new Set(entries.map((other) => other.value["id"]));
  if (typeof copy["id"] === "string") {
    const base = copy["id"].replace(/-\d+$/, "");
    let count = 2;
    while (ids.has(`${base}-${count}`)) count++;
    copy["id"] = `${base}-${count}`;
  }
  if (typeof copy["name"] === "string") copy["name"] = `${copy["name"]}${suffix}`;
  return copy;
}

/** Removes from the end, so that the indices before stay right. */
export function removeEdits(chosen: readonly Entry[]): Edit[] {
  return [...chosen].sort((a, b) => b.index - a.index).map(({ pointer }) => ({ op: "remove", pointer }));
}

/** Switches an entry; in a radio group, the others go off. */
export function switchEdits(preset: Preset, entry: Entry, isTo: boolean): Edit[] {
  if (isOn(entry) === isTo) return [];
  const edits: Edit[] = [switchEdit(preset, entry, isTo)];
  const group = preset.groups.find(({ id }) => id === entry.value["groupId"]);
  if (isTo && group?.isRadio) {
    for (const other of preset.entries) {
      if (other.key !== entry.key && other.value["groupId"] === group.id && isOn(other))
        edits.push(switchEdit(preset, other, false));
    }
  }
  return edits;
}

/** A file says "on" by saying nothing, unless its habit is to say it. */
function switchEdit({ entries }: Preset, entry: Entry, isTo: boolean): Edit {
  const name = entry.value["enabled"] === false && entry.value["isEnabled"] !== false ? "enabled" : "isEnabled";
  const pointer = join(entry.pointer, name);
  const isHabit = entries.some(({ value }) => value[name] === true);
  return isTo && !isHabit ? { op: "remove", pointer } : { op: "set", pointer, value: isTo };
}

export function groupEdits(chosen: readonly Entry[], group: string | undefined): Edit[] {
  return chosen.flatMap((entry): Edit[] => {
    const pointer = join(entry.pointer, "groupId");
    if (group !== undefined) return entry.value["groupId"] === group ? [] : [{ op: "set", pointer, value: group }];
    return entry.value["groupId"] === undefined ? [] : [{ op: "remove", pointer }];
  });
}

/** Adds a group with this name; a file that is a bare list has no room for groups. */
export function newGroupEdits(preset: Preset, name: string): { id: string; edits: Edit[] } {
  const ids = new Set(preset.groups.map(({ id }) => id));
  const stem =
    name
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, "-")
      .replace(/^-|-$/g, "") || "group";
  let id = stem;
  for (let count = 2; ids.has(id); count++) id = `${stem}-${count}`;
  const base = join(preset.list.replace(/\/[^/]*$/, ""), "presetGroups");
  const group = { id, name, selectionMode: "checkbox" };
  const there = parentGroups(preset);
  const edit: Edit = Array.isArray(there)
    ? { op: "insert", pointer: join(base, there.length), value: group }
    : { op: "set", pointer: base, value: [group] };
  return { id, edits: [edit] };
}

function parentGroups(preset: Preset): unknown {
  const value = preset.file.value.value;
  const inner =
    preset.list.startsWith("/agents/0") && isObject(value) && Array.isArray(value["agents"])
      ? value["agents"][0]
      : value;
  return isObject(inner) ? inner["presetGroups"] : undefined;
}

export function canGroup(preset: Preset): boolean {
  return preset.list !== "";
}

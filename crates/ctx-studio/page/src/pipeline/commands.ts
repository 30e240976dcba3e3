// What can be done with processors: each edits the file of the layer, and says what it did.
import type { Edit } from "../api";
import { announce, toast } from "../announce";
import { apply } from "../pointer";
import { t } from "../language";
import { changeEdits, entryOf, isBare, moved, resetEdits, type Change } from "./edits";
import { layer } from "./layer";
import { layerDraft, layerView, processors, type Processor } from "./state";

/** Changes settings of processors in the layer, in one step. */
export function change(all: ReadonlyMap<string, Change>): void {
  const [view, draft] = [layerView.peek(), layerDraft.peek()];
  if (!view || !draft || draft.isReadOnly.peek()) return;
  let value = draft.value.peek();
  const edits: Edit[] = [];
  for (const { about, setting } of processors.peek()) {
    const own = all.get(setting.id);
    if (!own) continue;
    const before = value;
    let made = changeEdits(view, value, { setting, about, change: own });
    // An entry that sets nothing would still override the layers below as a whole.
    const isNeeded = (setting.overrules ?? []).length > 0;
    if (!isNeeded && isBare(view, apply(value, made), setting.id)) made = resetEdits(view, value, [setting.id]);
    value = apply(value, made);
    edits.push(...made);
    const copies = setting.config.filter(({ origin }) => origin !== "built-in" && origin !== layer.peek()).length;
    if (copies > 0 && entryOf(view, before, setting.id) === undefined) toast(t().pipeline.copied(about.name, copies));
  }
  if (edits.length > 0) draft.edit(...edits);
}

export function changeOne({ setting }: Processor, own: Change): void {
  change(new Map([[setting.id, own]]));
}

export function reset(ids: readonly string[]): void {
  const [view, draft] = [layerView.peek(), layerDraft.peek()];
  if (!view || !draft) return;
  const edits = resetEdits(view, draft.value.peek(), ids);
  if (edits.length > 0) draft.edit(...edits);
  announce(t().pipeline.wasReset(ids.length));
}

/** The new priorities for a move, by processor. More than one where others must make room. */
export function priorities(from: number, to: number): Map<string, number> {
  return moved(processors.peek().map(({ setting }) => setting), from, to);
}

export function place(wanted: ReadonlyMap<string, number>): void {
  change(new Map([...wanted].map(([id, priority]) => [id, { priority }])));
  const [first] = wanted;
  const name = processors.peek().find(({ about }) => about.id === first?.[0])?.about.name;
  if (first && name) announce(t().pipeline.movedTo(name, first[1]));
}

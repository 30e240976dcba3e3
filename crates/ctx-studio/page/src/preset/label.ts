// Display names of entries and anchors.
import { registry } from "../project";
import { t } from "../language";
import { anchorType, contentOf, textField, type Entry } from "./entries";

/** Generated ids (UUIDs, hex numbers). Users do not recognize entries by them. */
const GENERATED = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{12,}|\d+)$/i;
const MOST_LETTERS = 40;

/** Returns the name, a written id, the name of the anchor, or the first words of the text. */
export function labelOf(entry: Entry): string {
  const name = textField(entry, "name").trim();
  if (name !== "") return name;
  const id = textField(entry, "id").trim();
  if (id !== "" && !GENERATED.test(id)) return id;
  const type = anchorType(entry);
  if (type !== undefined) return anchorLabel(type);
  const start = contentOf(entry).trim().split("\n")[0] ?? "";
  if (start === "") return t().entryNumber(entry.index + 1);
  return start.length > MOST_LETTERS ? `${start.slice(0, MOST_LETTERS).trimEnd()}…` : start;
}

/** Unknown anchors are placeholders: their text cannot be sent. */
export function kindOf(type: string): "template" | "placeholder" {
  return registry.value.anchors.find(({ id }) => id === type)?.kind ?? "placeholder";
}

/** Whether an entry only marks a position, without a text and a role. */
export function isPlaceholder(entry: Entry): boolean {
  const type = anchorType(entry);
  return type !== undefined && kindOf(type) === "placeholder";
}

/** The name in the registry, or the id of a custom anchor. */
export function anchorLabel(id: string): string {
  return registry.value.anchors.find((anchor) => anchor.id === id)?.name || id;
}

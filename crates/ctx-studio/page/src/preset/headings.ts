// Finds heading entries. Authors of long presets use them to divide the list into sections.
import { anchorType, contentOf, hasParts, textField, type Entry } from "./entries";

/** Names that start with a line or triangle character (`━📜 Style`, `▼ Style`), or with two typed line characters
 * (`=== Style ===`, `--- Style`, `## Style`). */
const HEADING = /^\s*(?:[\u2500-\u259f▲▼▽▾▶►▷▸⸺⸻]|[-=—–―*#~_+]{2})/u;
/** Macros without output. */
const SILENT = /\{\{(?:\/\/[^{}]*|trim|noop)\}\}/gi;

/** Whether the entry has a heading as its name, or a name and no text. Anchors are never headings. */
export function isHeading(entry: Entry): boolean {
  const name = textField(entry, "name");
  if (name === "" || anchorType(entry) !== undefined) return false;
  return HEADING.test(name) || (!hasParts(entry) && contentOf(entry).replace(SILENT, "").trim() === "");
}

/** The entries between a heading and the next one. */
export function sectionOf(entries: readonly Entry[], heading: Entry): Entry[] {
  const below = entries.slice(heading.index + 1);
  const end = below.findIndex(isHeading);
  return end < 0 ? below : below.slice(0, end);
}

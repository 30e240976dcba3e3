// Text search of the entry list. Lower-case texts are computed once per version of an entry.
import { contentOf, type Entry } from "./entries";
import { labelOf } from "./label";
import { lower } from "../ui/marked";

interface Searched {
  label: string;
  name: string;
  text: string;
}
const searched = new WeakMap<Entry, Searched>();

function searchedOf(entry: Entry): Searched {
  const label = labelOf(entry);
  let known = searched.get(entry);
  if (known?.label !== label) {
    known = { label, name: lower(label), text: lower(contentOf(entry)) };
    searched.set(entry, known);
  }
  return known;
}

/** Whether the name or the text contains the lower-case needle. */
export function hasText(entry: Entry, needle: string): boolean {
  const { name, text } = searchedOf(entry);
  return name.includes(needle) || text.includes(needle);
}

/** Position of the first match in the text, or -1. */
export function placeInText(entry: Entry, needle: string): number {
  return needle === "" ? -1 : searchedOf(entry).text.indexOf(needle);
}

// Texts with marked search matches. A keystroke in the search redraws only these.
import { contentOf, type Entry } from "./entries";
import { labelOf } from "./label";
import { needle } from "./list-view";
import { placeInText } from "./search";
import { Marked } from "../ui/marked";

const BEFORE = 40;
const SHOWN = 200;

export function MarkedLabel({ entry }: { entry: Entry }) {
  return <Marked text={labelOf(entry)} wanted={needle.value} />;
}

/** The text around the first match, or `head` if the text has no match. */
export function MarkedHead({ entry, head }: { entry: Entry; head: string }) {
  const at = placeInText(entry, needle.value);
  if (at < 0) return <>{head}</>;
  const text = contentOf(entry);
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const from = Math.max(start, at - BEFORE);
  return <Marked text={`${from > start ? "…" : ""}${text.slice(from, from + SHOWN)}`} wanted={needle.value} />;
}

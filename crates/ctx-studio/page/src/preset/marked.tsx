// Texts with marked search matches. A keystroke in the search redraws only these.
import { contentOf, type Entry } from "./entries";
import { labelOf } from "./label";
import { lower, placeInText } from "./search";
import { needle } from "./list-view";

const BEFORE = 40;
const SHOWN = 200;

export function MarkedLabel({ entry }: { entry: Entry }) {
  return <Marked text={labelOf(entry)} />;
}

/** The text around the first match, or `head` if the text has no match. */
export function MarkedHead({ entry, head }: { entry: Entry; head: string }) {
  const at = placeInText(entry, needle.value);
  if (at < 0) return <>{head}</>;
  const text = contentOf(entry);
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const from = Math.max(start, at - BEFORE);
  return <Marked text={`${from > start ? "…" : ""}${text.slice(from, from + SHOWN)}`} />;
}

export function Marked({ text, wanted = needle.value }: { text: string; wanted?: string }) {
  if (wanted === "") return <>{text}</>;
  const searched = lower(text);
  const pieces = [];
  let end = 0;
  for (let at = searched.indexOf(wanted); at >= 0; at = searched.indexOf(wanted, end)) {
    pieces.push(text.slice(end, at), <mark key={at}>{text.slice(at, at + wanted.length)}</mark>);
    end = at + wanted.length;
  }
  return (
    <>
      {pieces}
      {text.slice(end)}
    </>
  );
}

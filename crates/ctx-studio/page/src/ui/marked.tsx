// Marks where a text contains a search text, whatever the case of letters.

/** Converts to lower case without changing the length. Positions stay valid in the original text. */
export function lower(text: string): string {
  const all = text.toLowerCase();
  if (all.length === text.length) return all;
  return text.replace(/[^]/gu, (one) => (one.toLowerCase().length === one.length ? one.toLowerCase() : one));
}

/** A text with marked matches; `wanted` is in lower case. */
export function Marked({ text, wanted }: { text: string; wanted: string }) {
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

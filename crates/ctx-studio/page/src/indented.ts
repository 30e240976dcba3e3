// Indents JSON without parsing it, so large numbers are not rounded.

const SPACES = "  ";

/** Indents JSON. Divides invalid text at brackets, colons and commas. */
export function indented(json: string): string {
  const parts: string[] = [];
  let depth = 0;
  const line = (): void => void parts.push("\n", SPACES.repeat(depth));
  // A text, white space, an empty list or object, a sign, or anything up to the next of them.
  for (const [part] of json.matchAll(/"(?:[^"\\]|\\.)*"?|\s+|[[{]\s*[\]}]|[[\]{},:]|[^"\s[\]{},:]+/gs)) {
    if (part === "{" || part === "[") {
      parts.push(part);
      depth++;
      line();
    } else if (part === "}" || part === "]") {
      depth = Math.max(0, depth - 1);
      line();
      parts.push(part);
    } else if (part === ",") {
      parts.push(part);
      line();
    } else if (part === ":") parts.push(": ");
    else if (part.trim() !== "") parts.push(part);
  }
  return parts.join("");
}

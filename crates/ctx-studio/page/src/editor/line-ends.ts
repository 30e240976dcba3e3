// CodeMirror knows lines, not line ends. It gets a text with `\n` alone; the text of the file keeps what it had, and a
// new line ends as the first one does.

/** A change of a text, with places in the text before. */
export interface Change {
  from: number;
  to: number;
  insert: string;
}

/** The text as the editor holds it. A `\r` that ends no line is a character like others. */
export function shownText(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

export class LineEnds {
  #text = "";
  /** Where a `\r` stands that the editor does not have, ascending. */
  #returns: number[] = [];

  constructor(text: string) {
    this.text = text;
  }

  get text(): string {
    return this.#text;
  }
  set text(text: string) {
    this.#text = text;
    this.#returns = [];
    for (let at = text.indexOf("\r\n"); at >= 0; at = text.indexOf("\r\n", at + 2)) this.#returns.push(at);
  }

  /** A place of the text as a place in the editor. */
  toShown(place: number): number {
    return place - this.#countBefore((at) => at < place);
  }

  /** A place in the editor as a place of the text. The end of a line is before its `\r`. */
  toText(place: number): number {
    return place + this.#countBefore((at, index) => at - index < place);
  }

  /** Makes changes of the shown text, which are in order and do not overlap. */
  change(changes: readonly Change[]): void {
    const first = this.#text.indexOf("\n");
    const end = first > 0 && this.#text[first - 1] === "\r" ? "\r\n" : "\n";
    let next = "";
    let last = 0;
    for (const { from, to, insert } of changes) {
      next += this.#text.slice(last, this.toText(from)) + shownText(insert).replaceAll("\n", end);
      last = this.toText(to);
    }
    this.text = next + this.#text.slice(last);
  }

  #countBefore(isBefore: (at: number, index: number) => boolean): number {
    let low = 0;
    let high = this.#returns.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(this.#returns[middle] ?? 0, middle)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The one change between two texts. Only what differs is in it, so that a cursor stays where it is. */
export function difference(before: string, after: string): Change {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) };
}

/** What a plain field made of a text: it has lost each `\r`, and the text has not. */
export function typedInto(text: string, shown: string): string {
  const ends = new LineEnds(text);
  ends.change([difference(shownText(text), shown)]);
  return ends.text;
}

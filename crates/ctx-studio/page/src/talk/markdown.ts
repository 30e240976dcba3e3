// Parses the Markdown of messages into blocks and spans. Linear in the text, with limited nesting.

export type Span =
  | { kind: "text" | "code"; text: string }
  | { kind: "strong" | "em" | "del"; spans: Span[] }
  | { kind: "link"; href: string; spans: Span[] }
  | { kind: "break" };

export type Block =
  | { kind: "paragraph"; spans: Span[] }
  | { kind: "heading"; level: number; spans: Span[] }
  | { kind: "code"; language: string; text: string }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "list"; start?: number; items: Block[][] }
  | { kind: "table"; head: Span[][]; rows: Span[][][] }
  | { kind: "rule" };

/** Longer texts are shown as plain text, in UTF-16 units. */
export const MAX_LENGTH = 100_000;
const MAX_DEPTH = 6;
const MAX_COLUMNS = 20;
const MAX_ROWS = 200;
/** Maximum number of open emphases. */
const MAX_OPEN = 20;
const MAX_LINK = 1_000;

// Patterns must not rescan a run from each of its characters: 100,000 spaces would take minutes. So what follows a run
// with a choice of lengths matches to the end of the line, whatever the line contains.
const FENCE = /^ {0,3}(?:(`{3,})([^`]*)|(~{3,})(.*))$/s;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t](.*))?$/s;
const RULE = /^ {0,3}(?:\*[ \t]*){3,}$|^ {0,3}(?:-[ \t]*){3,}$|^ {0,3}(?:_[ \t]*){3,}$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( {1,4}|$)(?=\S|$)/;
const DIVIDER = /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$/;

/** Reads the blocks of a text. */
export function parseMarkdown(text: string): Block[] {
  return parseBlocks(text.replace(/\r\n?/g, "\n").split("\n"), 0);
}

function parseBlocks(lines: readonly string[], depth: number): Block[] {
  const blocks: Block[] = [];
  let paragraph: string[] = [];
  const endParagraph = () => {
    if (paragraph.length > 0) blocks.push({ kind: "paragraph", spans: parseSpans(paragraph.join("\n")) });
    paragraph = [];
  };
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? "";
    if (line.trim() === "") {
      endParagraph();
      at++;
      continue;
    }
    const next = parseSpecial(lines, at, depth, paragraph.length > 0);
    if (next) {
      endParagraph();
      blocks.push(next.block);
      at = next.at;
    } else {
      paragraph.push(line);
      at++;
    }
  }
  endParagraph();
  return blocks;
}

interface Parsed {
  block: Block;
  /** The line after the block. */
  at: number;
}

/** Reads a block other than a paragraph. */
function parseSpecial(lines: readonly string[], at: number, depth: number, isInParagraph: boolean): Parsed | undefined {
  const line = lines[at] ?? "";
  const fence = FENCE.exec(line);
  if (fence) return parseFence(lines, at, fence[1] ?? fence[3] ?? "", (fence[2] ?? fence[4] ?? "").trim());
  const heading = HEADING.exec(line);
  if (heading) {
    const text = withoutEnd((heading[2] ?? "").trim(), "#").trimEnd();
    return { block: { kind: "heading", level: (heading[1] ?? "").length, spans: parseSpans(text) }, at: at + 1 };
  }
  if (RULE.test(line)) return { block: { kind: "rule" }, at: at + 1 };
  if (depth < MAX_DEPTH && QUOTE.test(line)) {
    let end = at;
    while (QUOTE.test(lines[end] ?? "")) end++;
    const inner = lines.slice(at, end).map((line) => line.replace(QUOTE, ""));
    return { block: { kind: "quote", blocks: parseBlocks(inner, depth + 1) }, at: end };
  }
  const item = ITEM.exec(line);
  // In a paragraph, only the number 1 starts a list; a line can start with a year.
  const canBegin = item && (!isInParagraph || !/\d/.test(item[2] ?? "") || /^1[.)]/.test(item[2] ?? ""));
  if (depth < MAX_DEPTH && canBegin && item[0].length < line.length) return parseList(lines, at, depth);
  return line.includes("|") && DIVIDER.test((lines[at + 1] ?? "").trim()) ? parseTable(lines, at) : undefined;
}

/** Removes these characters from the end of a text. */
function withoutEnd(text: string, letters: string): string {
  let end = text.length;
  while (end > 0 && letters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

function parseFence(lines: readonly string[], at: number, fence: string, language: string): Parsed {
  const isEnd = (line: string) => {
    const text = line.trim();
    return text.length >= fence.length && text === fence.charAt(0).repeat(text.length);
  };
  let end = at + 1;
  while (end < lines.length && !isEnd(lines[end] ?? "")) end++;
  const text = lines.slice(at + 1, end).join("\n");
  return { block: { kind: "code", language: language.split(/\s/)[0] ?? "", text }, at: end + 1 };
}

function parseList(lines: readonly string[], at: number, depth: number): Parsed {
  const kindOf = (marker: string) => (/\d/.test(marker) ? marker.slice(-1) : marker);
  const first = ITEM.exec(lines[at] ?? "");
  const kind = kindOf(first?.[2] ?? "");
  const items: Block[][] = [];
  let end = at;
  while (end < lines.length) {
    const item = ITEM.exec(lines[end] ?? "");
    if (!item || kindOf(item[2] ?? "") !== kind || RULE.test(lines[end] ?? "")) break;
    const indent = item[0].length;
    const outside = new RegExp(`^ {1,${indent}}`);
    const own = [(lines[end] ?? "").slice(indent)];
    let isBlank = false;
    for (end++; end < lines.length; end++) {
      const line = lines[end] ?? "";
      if (line.trim() === "") {
        isBlank = true;
        own.push("");
        continue;
      }
      const isInside = /^ {2,}|^\t/.test(line) && line.length - line.trimStart().length >= Math.min(indent, 2);
      // The next line continues the paragraph of the item.
      const isLazy = !isBlank && !ITEM.test(line) && !FENCE.test(line) && !HEADING.test(line) && !QUOTE.test(line);
      if (!isInside && !isLazy) break;
      own.push(isInside ? line.replace(/^\t/, "").replace(outside, "") : line);
      isBlank = false;
    }
    items.push(parseBlocks(own, depth + 1));
  }
  const start = Number.parseInt(first?.[2] ?? "", 10);
  return { block: { kind: "list", items, ...(Number.isNaN(start) ? {} : { start }) }, at: end };
}

function parseTable(lines: readonly string[], at: number): Parsed | undefined {
  const head = cellsOf(lines[at] ?? "");
  if (head.length > MAX_COLUMNS || cellsOf(lines[at + 1] ?? "").length !== head.length) return undefined;
  const last = head.length - 1;
  let end = at + 2;
  while (end - at < MAX_ROWS && (lines[end] ?? "").includes("|")) end++;
  const rows = lines.slice(at + 2, end).map((line) => {
    const row = cellsOf(line);
    // The last column shows the cells that have no column.
    return head.map((_, column) => parseSpans(column < last ? (row[column] ?? "") : row.slice(last).join(" | ")));
  });
  return { block: { kind: "table", head: head.map((cell) => parseSpans(cell)), rows }, at: end };
}

/** The cells of a table row. An escaped pipe is part of a cell. */
function cellsOf(line: string): string[] {
  const cells = [""];
  for (const [part] of line.trim().matchAll(/\\[^]|[^\\|]+|\||\\/g)) {
    if (part === "|") cells.push("");
    else cells.push(`${cells.pop()}${part === "\\|" ? "|" : part}`);
  }
  if (line.trimStart().startsWith("|")) cells.shift();
  if (cells.length > 1 && cells.at(-1) === "") cells.pop();
  return cells.map((cell) => cell.trim());
}

/** An unclosed emphasis or link. */
interface Open {
  mark: string;
  spans: Span[];
}

const TOKEN = /\\[!-/:-@[-`{-~]|`+|\*{1,3}|_{1,3}|~~|!?\[|\]|https?:\/\/[^\s<>"'`*]{1,1000}|\n/g;
const TARGET = /\(\s*<?(https?:\/\/[^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*)>?(?:\s+"[^"\n]*")?\s*\)/y;

/** Reads the marks within a paragraph. */
export function parseSpans(text: string): Span[] {
  const stack: Open[] = [{ mark: "", spans: [] }];
  const top = () => stack[stack.length - 1] as Open;
  const put = (span: Span) => {
    const { spans } = top();
    const last = spans[spans.length - 1];
    if (span.kind === "text" && last?.kind === "text") last.text += span.text;
    else if (span.kind !== "text" || span.text !== "") spans.push(span);
  };
  const say = (text: string) => put({ kind: "text", text });
  /** Converts unclosed marks from an index on to text. */
  const giveUp = (from: number) => {
    for (const { mark, spans } of stack.splice(from)) {
      say(mark);
      spans.forEach(put);
    }
  };
  const lastRuns = lastBackticks(text);
  const token = new RegExp(TOKEN);
  let done = 0;
  for (let found = token.exec(text); found; found = token.exec(text)) {
    const [mark] = found;
    const at = found.index;
    let end = at + mark.length;
    say(text.slice(done, at));
    if (mark === "\n") put({ kind: "break" });
    else if (mark.startsWith("\\")) say(mark.slice(1));
    else if (mark.startsWith("`")) {
      const close = (lastRuns.get(mark.length) ?? -1) > at ? closingRun(text, mark.length, end) : -1;
      if (close < 0) say(mark);
      else {
        put({ kind: "code", text: withoutPadding(text.slice(end, close).replaceAll("\n", " ")) });
        end = close + mark.length;
      }
    } else if (mark.startsWith("http")) {
      // Exclude punctuation at the end of a sentence.
      const href = withoutEnd(mark, ".,;:!?)]");
      end = at + href.length;
      if (stack.some((one) => one.mark.endsWith("["))) say(href);
      else put({ kind: "link", href, spans: [{ kind: "text", text: href }] });
    } else if (mark.endsWith("[")) {
      if (stack.length <= MAX_OPEN) stack.push({ mark, spans: [] });
      else say(mark);
    } else if (mark === "]") {
      const open = stack.findLastIndex((one) => one.mark.endsWith("["));
      const target = open < 0 ? null : targetAt(text, end);
      if (open < 0) say("]");
      else if (!target) {
        giveUp(open);
        say("]");
      } else {
        giveUp(open + 1);
        const { spans } = stack.pop() as Open;
        put({ kind: "link", href: target.href, spans });
        end = target.end;
      }
    } else emphasize(mark, text, at);
    done = end;
    token.lastIndex = end;
  }
  say(text.slice(done));
  giveUp(1);
  return top().spans;

  /** Closes an emphasis, or opens one. */
  function emphasize(mark: string, text: string, at: number): void {
    const before = at === 0 ? " " : text.charAt(at - 1);
    const after = text.charAt(at + mark.length) || " ";
    const isWord = (letter: string) => /[\p{L}\p{N}]/u.test(letter);
    const isInWord = mark.startsWith("_") && isWord(before) && isWord(after);
    const open = stack.findLastIndex((one) => one.mark === mark);
    if (!/\s/.test(before) && !isInWord && open > 0) {
      giveUp(open + 1);
      const { spans } = stack.pop() as Open;
      if (mark === "~~") put({ kind: "del", spans });
      else if (mark.length === 1) put({ kind: "em", spans });
      else put({ kind: "strong", spans: mark.length === 2 ? spans : [{ kind: "em", spans }] });
    } else if (!/\s/.test(after) && !isInWord && stack.length <= MAX_OPEN) stack.push({ mark, spans: [] });
    else say(mark);
  }
}

/** Removes the space around code that starts or ends with a backtick. */
function withoutPadding(code: string): string {
  return code.startsWith(" ") && code.endsWith(" ") && code.trim() !== "" ? code.slice(1, -1) : code;
}

/** Index of the last run of backticks by length. A later run of that length is never closed. */
function lastBackticks(text: string): Map<number, number> {
  const runs = new Map<number, number>();
  for (const { 0: run, index } of text.matchAll(/`+/g)) runs.set(run.length, index);
  return runs;
}

/** Index of the next run of backticks with a length, or -1. */
function closingRun(text: string, length: number, from: number): number {
  const run = /`+/g;
  run.lastIndex = from;
  for (let found = run.exec(text); found; found = run.exec(text)) if (found[0].length === length) return found.index;
  return -1;
}

function targetAt(text: string, at: number): { href: string; end: number } | null {
  TARGET.lastIndex = at;
  // The limit bounds the work for a text of brackets.
  const found = TARGET.exec(text.slice(0, at + MAX_LINK));
  return found ? { href: found[1] ?? "", end: at + found[0].length } : null;
}

// Word differences of two texts.

export interface Run {
  text: string;
  isSame: boolean;
}

/** Maximum product of lengths that is compared word by word. */
const MOST = 4_000_000;
/** Characters of context around a difference. */
const AROUND = 120;

/** Splits both texts into common and differing runs. */
export function differing(a: string, b: string): [Run[], Run[]] {
  const [left, right] = [wordsOf(a), wordsOf(b)];
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start++;
  let end = 0;
  const rest = Math.min(left.length, right.length) - start;
  while (end < rest && left.at(-1 - end) === right.at(-1 - end)) end++;
  const kept = common(left.slice(start, left.length - end), right.slice(start, right.length - end));
  const runs = (words: string[], common: Set<number>) =>
    runsOf(words, (at) => at < start || at >= words.length - end || common.has(at - start));
  return [runs(left, kept[0]), runs(right, kept[1])];
}

/** Shortens long common runs. */
export function shortened(runs: readonly Run[]): Run[] {
  return runs.map((run, at) => {
    if (!run.isSame || run.text.length <= 2 * AROUND) return run;
    const head = at === 0 ? "" : run.text.slice(0, AROUND);
    const tail = at === runs.length - 1 ? "" : run.text.slice(-AROUND);
    // Whole words, where blanks divide them.
    return { text: `${head.replace(/(\s)\S*$/, "$1")} … ${tail.replace(/^\S*\s/, "")}`, isSame: true };
  });
}

/** Words and spaces; single characters of Chinese and Japanese. */
function wordsOf(text: string): string[] {
  return text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}\p{M}_]+|\s+|[^]/gu) ?? [];
}

/** The places of a longest common subsequence. */
function common(a: readonly string[], b: readonly string[]): [Set<number>, Set<number>] {
  const found: [Set<number>, Set<number>] = [new Set(), new Set()];
  if (a.length * b.length > MOST) return found;
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      found[0].add(i++);
      found[1].add(j++);
    } else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return found;
}

function runsOf(words: readonly string[], isSame: (at: number) => boolean): Run[] {
  const runs: Run[] = [];
  words.forEach((word, at) => {
    const last = runs.at(-1);
    if (last?.isSame === isSame(at)) last.text += word;
    else runs.push({ text: word, isSame: isSame(at) });
  });
  return runs;
}

// What a preview tells may be what differs from the one before: the page makes the whole of both.
import type { DecisionView, Finding, Preview, Row, StageView } from "./api";

export type Shown = Omit<Preview, "since" | "rows" | "decisions" | "stages" | "findings" | "entryTokens"> & {
  rows: Row[];
  decisions: DecisionView[];
  stages: StageView[];
  findings: Finding[];
  entryTokens: Record<string, number>;
};
type Splice<T> = { at: number; remove: number; insert: T[] };
type Listed<T> = T[] | { splices: Splice<T>[]; total: number };

const NOTHING = { rows: [], decisions: [], stages: [], findings: [], entryTokens: {} };

/** The whole of an answer; undefined if it is told by a preview that the page has not. */
export function joined(answer: Preview, before: Shown | undefined): Shown | undefined {
  const { since, ...rest } = answer;
  const known = since === undefined ? NOTHING : before?.id === since ? before : undefined;
  if (!known) return undefined;
  const rows = listed(answer.rows, known.rows);
  const decisions = listed(answer.decisions, known.decisions);
  const stages = listed(answer.stages, known.stages);
  const findings = listed(answer.findings, known.findings);
  if (!rows || !decisions || !stages || !findings) return undefined;
  const entryTokens = patched(known.entryTokens, answer.entryTokens);
  return { ...rest, rows: counted(rows), decisions, stages, findings, entryTokens };
}

/** A list that stays the same stays the same object. */
function listed<T>(told: Listed<T>, before: T[]): T[] | undefined {
  if (Array.isArray(told)) return told;
  if (told.splices.length === 0 && before.length === told.total) return before;
  const next = [...before];
  for (const { at, remove, insert } of told.splices) next.splice(at, remove, ...insert);
  return next.length === told.total ? next : undefined;
}

/** The places of rows shift with those before them; a row that stays the same stays the same object. */
function counted(rows: Row[]): Row[] {
  let sent = 0;
  let isSame = true;
  const next = rows.map((row, place) => {
    const n = row.dropped === undefined ? sent++ : undefined;
    if (row.n === n && row.row === place) return row;
    isSame = false;
    return { ...row, n, row: place };
  });
  return isSame ? rows : next;
}

function patched(before: Record<string, number>, changes: Record<string, number | null>): Record<string, number> {
  const entries = Object.entries(changes);
  if (entries.length === 0) return before;
  const next = { ...before };
  for (const [pointer, tokens] of entries) {
    if (tokens === null) delete next[pointer];
    else next[pointer] = tokens;
  }
  return next;
}

// Fields whose meaning changed, by the reason for it.
import type { ImportedField } from "../api";

export interface Reason {
  note?: string;
  fields: ImportedField[];
}
export interface Changes {
  /** Reasons by status, in the order of the fields. */
  reasons: Map<string, Reason[]>;
  /** Number of fields without a value, which change nothing. */
  empty: number;
}

export function changesOf(fields: readonly ImportedField[]): Changes {
  const reasons = new Map<string, Reason[]>();
  let empty = 0;
  for (const field of fields) {
    if (field.status === "mapped" || field.isAlike) continue;
    if (field.isEmpty) {
      empty++;
      continue;
    }
    const known = reasons.get(field.status) ?? [];
    const same = known.find(({ note }) => note === field.note);
    if (same) same.fields.push(field);
    else known.push({ note: field.note, fields: [field] });
    reasons.set(field.status, known);
  }
  return { reasons, empty };
}

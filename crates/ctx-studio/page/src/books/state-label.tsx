// The state of an entry in the scan: a word, with a dot.
import type { ScannedEntry } from "../api";
import { t } from "../language";

export function State({ of: { state } }: { of: ScannedEntry }) {
  return <span class={`state ${state === "active" ? "active" : ""}`}>{t().books.states[state] ?? state}</span>;
}

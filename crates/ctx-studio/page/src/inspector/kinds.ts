// The kinds of sources, in the order of the legend.
import { t } from "../language";

export const KINDS = [
  "preset",
  "history",
  "input",
  "summary",
  "worldbook",
  "macro",
  "variable",
  "rule",
  "file",
  "plugin",
  "formatter",
  "separator",
  "overhead",
] as const;
export type Kind = (typeof KINDS)[number];

/** A class that the style sheet knows; what it does not know is drawn like a plug-in. */
export function kindClass(source: string): string {
  return `kind-${KINDS.find((kind) => kind === source) ?? "plugin"}`;
}

/** Translates a kind. Names of sources without another name are kinds too; other texts stay. */
export function kindName(source: string): string {
  const kind = KINDS.find((known) => known === source);
  return kind ? t().kinds[kind] : source;
}

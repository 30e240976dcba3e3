// The groups of processors, in execution order.

export const GROUPS = ["collect", "place", "fit", "shape", "files"] as const;
export type Group = (typeof GROUPS)[number];

/** The group of each built-in processor. In the order of their default priorities, the groups follow each other. */
const GROUP_OF: Readonly<Record<string, Group>> = {
  "session-loader": "collect",
  "regex-processor": "collect",
  "transcription-processor": "collect",
  "worldbook-processor": "collect",
  "author-note": "place",
  "dialogue-examples": "place",
  "injection-assembler": "place",
  "speaker-names": "place",
  "merge-injections": "place",
  "generation-prompt": "place",
  "variable-processor": "place",
  "request-compressor": "fit",
  recall: "fit",
  "token-limiter": "fit",
  "merge-system-to-head": "shape",
  "squash-system": "shape",
  "merge-consecutive-roles": "shape",
  "convert-system-to-user": "shape",
  "ensure-alternating-roles": "shape",
  "asset-resolver": "files",
};

/** A processor with the priority at which it runs, and the built-in one. */
export interface ProcessorRank {
  id: string;
  priority: number;
  builtIn: number;
}

/** The group of each processor of a list in execution order. A custom processor, or one that was moved out of its
 * group, belongs to the group of its nearest neighbor; so each group is one stretch of the list. */
export function groupsOf(list: readonly ProcessorRank[]): Group[] {
  const isAtHome = ({ id, priority, builtIn }: ProcessorRank) => id in GROUP_OF && priority === builtIn;
  const groupOf = (one: ProcessorRank | undefined) => one && GROUP_OF[one.id];
  let last = 0;
  return list.map((one, at) => {
    const before = list.slice(0, at).findLast(isAtHome);
    const after = list.slice(at + 1).find(isAtHome);
    const isNearer = !after || (before && one.priority - before.priority <= after.priority - one.priority);
    const own = groupOf(one);
    const fitting = [groupOf(before), groupOf(after)];
    const isKept = own !== undefined && (isAtHome(one) || fitting.includes(own));
    const group = isKept ? own : (groupOf(isNearer ? before : after) ?? own ?? "collect");
    last = Math.max(last, GROUPS.indexOf(group));
    return GROUPS[last] ?? group;
  });
}

// The branches of the conversation: runs of messages, each below the one that it goes on from.
import { computed, signal } from "@preact/signals";
import type { RunView } from "../api";
import { roleName, t } from "../language";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";
import { take, tree } from "./state";

const isOpen = signal(false);

/** The listed runs, without unanswered greetings: they are versions of the first message. */
const listed = computed<RunView[]>(() => {
  const all = tree.value?.runs ?? [];
  const continued = new Set(all.map(({ above }) => above));
  const isListed = (run: RunView, at: number) =>
    run.isActive || run.above !== undefined || run.messages > 1 || run.role !== "assistant" || continued.has(at);
  const places = new Map([...all.entries()].filter(([at, run]) => isListed(run, at)).map(([at], place) => [at, place]));
  return [...places.keys()].flatMap((at) => {
    const run = all[at];
    return run ? [{ ...run, above: run.above === undefined ? undefined : places.get(run.above) }] : [];
  });
});
const branchCount = computed(() => {
  const continued = new Set(listed.value.map(({ above }) => above));
  return listed.value.filter((_, at) => !continued.has(at)).length;
});

/** Shows and hides the branches. */
export function BranchesButton() {
  if (branchCount.value < 2) return null;
  return (
    <Button kind="quiet" pressed={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)} testId="branches">
      {t().talk.branches(branchCount.value)}
    </Button>
  );
}

export function Tree({ isFixed }: { isFixed: boolean }) {
  const runs = listed.value;
  const { messagesOf, summariesOf } = t().talk;
  if (branchCount.value < 2 || !isOpen.value) return null;
  const depths = depthsOf(runs);
  return (
    <div class="tree">
      <ol data-test="tree">
        {runs.map((run, at) => (
          <li key={run.first} class={run.isActive ? "active" : ""}>
            <span class={`indent in-${Math.min(depths[at] ?? 0, 8)}`} aria-hidden="true" />
            <button
              type="button"
              class="link"
              aria-current={run.isActive ? "true" : undefined}
              disabled={isFixed}
              onClick={() => void take({ kind: "activate", id: run.last })}
            >
              <b>{roleName(run.role)}</b> {run.head}
            </button>
            <small class="soft">
              {messagesOf(run.messages)}
              {run.summaries > 0 && (
                <>
                  {" "}
                  <Icon name="layers" /> {summariesOf(run.summaries)}
                </>
              )}
            </small>
          </li>
        ))}
      </ol>
      {tree.value?.isCut && <p class="soft">{t().cut}</p>}
    </div>
  );
}

function depthsOf(runs: readonly RunView[]): number[] {
  const depths: number[] = [];
  for (const { above } of runs) depths.push(above === undefined ? 0 : (depths[above] ?? 0) + 1);
  return depths;
}

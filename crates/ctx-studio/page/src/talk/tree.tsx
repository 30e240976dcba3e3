// The branches of the conversation: runs of messages, each below the one that it goes on from.
import type { RunView } from "../api";
import { t } from "../language";
import { Icon } from "../ui/icon";
import { take, tree } from "./state";

export function Tree({ isFixed }: { isFixed: boolean }) {
  const runs = tree.value?.runs ?? [];
  const { branches, messagesOf, summariesOf } = t().talk;
  if (runs.length < 2) return null;
  const depths = depthsOf(runs);
  return (
    <details class="tree" open>
      <summary>{branches(runs.filter(({ last }) => !runs.some((one) => runs[one.above ?? -1]?.last === last)).length)}</summary>
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
              <b>{run.role}</b> {run.head}
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
    </details>
  );
}

function depthsOf(runs: readonly RunView[]): number[] {
  const depths: number[] = [];
  for (const { above } of runs) depths.push(above === undefined ? 0 : (depths[above] ?? 0) + 1);
  return depths;
}

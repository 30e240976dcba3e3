// Keeps the pinned context over a reload of the window. The server has it until it stops.
import { effect } from "@preact/signals";
import { a, type Pinned } from "../compare/state";
import { projectInfo } from "../project";
import { project } from "../transport";

const key = () => `ctx-studio/${project}/pin`;

export function followPin(): void {
  const run = projectInfo.peek()?.run;
  try {
    const kept = JSON.parse(sessionStorage.getItem(key()) ?? "null") as { run?: string; pinned: Pinned } | null;
    if (kept && kept.run === run) a.value = kept.pinned;
  } catch {
    // Not ours.
  }
  effect(() => {
    const pinned = a.value;
    try {
      if (pinned) sessionStorage.setItem(key(), JSON.stringify({ run, pinned }));
      else sessionStorage.removeItem(key());
    } catch {
      // Too large to be kept: the pin stays until the window is reloaded.
      sessionStorage.removeItem(key());
    }
  });
}

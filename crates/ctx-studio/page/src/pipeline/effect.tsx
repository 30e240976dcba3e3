// The effect of a processor in this turn, as a link to its step in the preview.
import type { StageView } from "../api";
import { preview, type Shown } from "../preview";
import { inspectorTab, wantedStage } from "../inspector/state";
import { go } from "../route";
import { figure, t } from "../language";

/** The source kinds that only one processor adds. Their tokens are part of its effect. */
const KINDS_OF: Readonly<Record<string, readonly string[]>> = {
  "session-loader": ["history", "input"],
  "worldbook-processor": ["worldbook"],
  "injection-assembler": ["preset"],
};

export function Effect({ id, name }: { id: string; name: string }) {
  const shown = preview.value;
  const stage = shown?.stages.find((one) => one.id === id);
  if (!shown || !stage) return null;
  const words = effectOf(stage, shown);
  const { noEffect, showStep } = t().pipeline;
  return (
    <button
      type="button"
      class={`link effect ${words === "" ? "none" : ""}`}
      aria-label={t().labeled(name, words || noEffect)}
      title={showStep}
      onClick={() => showStage(id)}
      data-test={`effect-${id}`}
    >
      {words || noEffect}
    </button>
  );
}

function effectOf(stage: StageView, { usage }: Shown): string {
  const { added, removed, changed, replaced, tokens } = t().pipeline.effects;
  const kinds = KINDS_OF[stage.id] ?? [];
  const sent = usage.parts.filter((part) => kinds.includes(part.name)).reduce((sum, part) => sum + part.tokens, 0);
  const isJoined = stage.added > 0 && stage.removed > 0;
  return t().listed(
    [
      isJoined && replaced(stage.removed, stage.added),
      !isJoined && stage.added > 0 && added(stage.added),
      !isJoined && stage.removed > 0 && removed(stage.removed),
      stage.changed > 0 && changed(stage.changed),
      sent > 0 && tokens(figure(sent)),
    ].filter((part) => part !== false),
  );
}

function showStage(id: string): void {
  inspectorTab.value = "stages";
  wantedStage.value = id;
  // A narrow window shows the preview on a separate page.
  if (matchMedia("(max-width: 899px)").matches) go("preview");
}

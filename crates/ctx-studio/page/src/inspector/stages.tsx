// What each stage of the pipeline did.
import type { Shown } from "../preview";
import { figure, t } from "../language";

export function Stages({ shown }: { shown: Shown }) {
  if (shown.stages.length === 0) return <p class="empty soft">{t().noStages}</p>;
  return (
    <ol class="stages">
      {shown.stages.map((stage, index) => {
        const by = stage.after - stage.before;
        const isIdle = by === 0 && stage.log.length === 0;
        return (
          <li key={`${stage.id}${index}`} class={isIdle ? "idle" : ""}>
            <div class="line">
              <b>{stage.name}</b> <code>{stage.id}</code>
              <span class="gap" />
              <span class="counts">
                {t().counts(figure(stage.before), figure(stage.after))}
                {by !== 0 && <b class={by > 0 ? "plus" : "minus"}> {by > 0 ? `+${by}` : by}</b>}
              </span>
              {stage.tokens !== undefined && (
                <span class="tokens">
                  {figure(stage.tokens)} {t().tokens}
                </span>
              )}
            </div>
            {stage.log.length > 0 && (
              <ul>
                {stage.log.map((line, at) => (
                  <li key={at}>{line}</li>
                ))}
              </ul>
            )}
          </li>
        );
      })}
    </ol>
  );
}

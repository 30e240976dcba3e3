// How much of the budget is used, and by what: the engine's own figures.
import { isWorking, preview, previewFailure } from "../preview";
import { turn } from "../turn";
import { figure, t } from "../language";
import { kindClass, kindName } from "../inspector/kinds";
import { Icon } from "../ui/icon";

export function Meter() {
  const shown = preview.value;
  const failure = previewFailure.value;
  if (failure) {
    return (
      <div class="meter failed" role="status" title={failure.failure.help}>
        <Icon name="circle-alert" />
        <span>{failure.message || t().previewFailed}</span>
      </div>
    );
  }
  if (!shown)
    return (
      <div class="meter" aria-busy="true">
        <span class="soft">{t().loading}</span>
      </div>
    );
  const { usage, infeasible } = shown;
  const parts = (infeasible?.parts ?? usage.parts).filter(({ tokens }) => tokens > 0);
  const used = usage.tokens ?? parts.reduce((sum, { tokens }) => sum + tokens, 0);
  const mark = usage.isExact ? "" : "~";
  // A budget that cannot be met has no figures of its own.
  const limit = usage.limit ?? (infeasible ? turn.value.contextTokens : undefined);
  const isOver = infeasible !== undefined || (limit !== undefined && used > limit);
  const whole = Math.max(used, limit ?? 0, 1);
  let left = 0;
  const words = `${mark}${figure(used)}${limit === undefined ? "" : ` / ${figure(limit)}`} ${t().tokens}`;
  return (
    <div
      class={`meter ${isOver ? "over" : ""} ${isWorking.value ? "working" : ""}`}
      data-test="meter"
      data-tokens={usage.tokens}
      data-exact={usage.isExact}
    >
      <svg
        class="bar"
        role="img"
        aria-label={t().sentences(
          words,
          t().listed(parts.map(({ name, tokens }) => `${kindName(name)} ${figure(tokens)}`)),
        )}
        viewBox="0 0 1000 10"
        preserveAspectRatio="none"
      >
        {parts.map(({ name, tokens }) => {
          const width = (tokens / whole) * 1000;
          const x = left;
          left += width;
          return (
            <rect key={name} class={kindClass(name)} x={x} y="0" width={Math.max(0, width - 2)} height="10">
              <title>{t().labeled(kindName(name), figure(tokens))}</title>
            </rect>
          );
        })}
      </svg>
      <span class="figures">
        <b>
          {mark}
          {figure(used)}
        </b>
        {limit !== undefined && <> / {figure(limit)}</>}{" "}
        <span class="soft">
          {usage.isExact ? t().exact : t().estimated}
          {limit === undefined && t().noBudget}
        </span>
      </span>
      {isOver && (
        <span class="over-note" title={infeasible?.message}>
          <Icon name="triangle-alert" /> {infeasible ? t().cannotFit : t().overBudget}
        </span>
      )}
    </div>
  );
}

// Compresses the conversation: which messages, what would happen, and then one step.
import { useEffect, useState } from "preact/hooks";
import type { CompressionPlan, CompressRange } from "../api";
import { call, CallError } from "../transport";
import { agentId } from "../project";
import { figure, t } from "../language";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { Field, Select } from "../ui/field";
import { isBusy, talk, talkPath } from "./state";
import { write, writer, WriterSelect } from "./writer";

type Kind = CompressRange["kind"];
const KINDS: Kind[] = ["all", "auto", "rollUp", "between"];

export function CompressDialog({ close }: { close: () => void }) {
  const [kind, choose] = useState<Kind>("all");
  const [ends, setEnds] = useState({ from: "1", to: String(talk.value?.rows.at(-1)?.place ?? 1) });
  const [plan, setPlan] = useState<CompressionPlan | undefined>(undefined);
  const [failure, fail] = useState<string | undefined>(undefined);
  const texts = t().talk;
  const hash = talk.value?.hash;
  const range: CompressRange = kind === "between" ? { kind, ...ends } : { kind };
  const asked = { agent: agentId.value, range };
  // A conversation that changed meanwhile is planned anew.
  useEffect(() => {
    let isGone = false;
    setPlan(undefined);
    call<CompressionPlan>("POST", talkPath("/plan"), { body: { base: hash, ...asked } }).then(
      (made) => {
        if (isGone) return;
        setPlan(made);
        fail(undefined);
      },
      (error) => !isGone && fail(error instanceof CallError ? error.message || t().offline : String(error)),
    );
    return () => {
      isGone = true;
    };
  }, [hash, JSON.stringify(asked)]);
  const compress = async () => {
    if (await write(writer.peek(), { kind: "range", range })) close();
  };
  return (
    <Dialog
      title={texts.compressTitle}
      onClose={close}
      isWide
      actions={
        <>
          <Button onClick={close}>{texts.cancel}</Button>
          <Button
            kind="main"
            isDisabled={!plan?.isNeeded || isBusy.value}
            onClick={() => void compress()}
            testId="compress-now"
          >
            {texts.compress}
          </Button>
        </>
      }
    >
      <div class="fields">
        <Select
          label={texts.range}
          value={kind}
          options={KINDS.map((value) => ({ value, label: texts.ranges[value] }))}
          onChange={(next) => choose(KINDS.find((one) => one === next) ?? "all")}
          testId="compress-range"
        />
        {kind === "between" && (
          <>
            <Field
              label={texts.fromMessage}
              size="short"
              inputMode="numeric"
              isLazy
              value={ends.from}
              onInput={(from) => setEnds({ ...ends, from })}
              testId="compress-from"
            />
            <Field
              label={texts.toMessage}
              size="short"
              inputMode="numeric"
              isLazy
              value={ends.to}
              onInput={(to) => setEnds({ ...ends, to })}
              testId="compress-to"
            />
          </>
        )}
      </div>
      <WriterSelect />
      <div role="status" aria-live="polite" data-test="plan">
        {failure && <p class="wrong">{failure}</p>}
        {plan && (
          <>
            <p>
              <b>{plan.told}</b>
            </p>
            <p class="soft">{plan.trigger}</p>
            {plan.isNeeded && (
              <details>
                <summary>{texts.hides(plan.ids.length, plan.summaries.length, figure(plan.tokens))}</summary>
                <p class="ids">{t().listed([...plan.summaries, ...plan.ids])}</p>
              </details>
            )}
          </>
        )}
      </div>
    </Dialog>
  );
}

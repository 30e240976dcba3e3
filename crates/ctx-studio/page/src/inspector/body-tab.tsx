// The request body in a dialect, indented. Numbers and texts keep their spelling.
import { signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { BodyView } from "../api";
import { bodyOf, type Shown } from "../preview";
import { registry } from "../project";
import { CallError } from "../transport";
import { figure, t } from "../language";
import { copyText } from "../copy";
import { indented } from "../indented";
import { Button } from "../ui/button";
import { Select } from "../ui/field";
import { FindingList } from "./finding-list";

const chosen = signal("");
/** More text than this stays out of the page; copying takes all of it. */
const MOST = 300_000;
const PAUSE = 200;

export function BodyTab({ shown }: { shown: Shown }) {
  const dialects = registry.value.dialects;
  const dialect = dialects.includes(chosen.value) ? chosen.value : (dialects[0] ?? "openai");
  const [body, setBody] = useState<BodyView | undefined>(undefined);
  const [failure, fail] = useState<string | undefined>(undefined);
  useEffect(() => {
    let isGone = false;
    const ask = async () => {
      try {
        const answer = await bodyOf(shown.id, dialect);
        if (isGone) return;
        setBody(answer);
        fail(undefined);
      } catch (error) {
        if (!isGone) fail(error instanceof CallError ? error.message || t().offline : String(error));
      }
    };
    // A body can be large: while somebody types, only the last one is asked for.
    const timer = setTimeout(() => void ask(), body ? PAUSE : 0);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [shown.id, dialect]);
  const text = useMemo(() => body && indented(body.text), [body]);
  return (
    <div class="body-tab">
      <div class="inspector-bar">
        <Select
          label={t().dialect}
          value={dialect}
          options={(dialects.length > 0 ? dialects : [dialect]).map((name) => ({ value: name, label: name }))}
          onChange={(next) => (chosen.value = next)}
          testId="dialect"
        />
        <span class="gap" />
        {body && <span class="soft">{t().characters(figure(body.text.length))}</span>}
        <Button icon="copy" onClick={() => void (text && copyText(text))} isDisabled={!text} testId="copy-body">
          {t().copy}
        </Button>
      </div>
      {failure && (
        <p class="wrong" role="alert">
          {failure}
        </p>
      )}
      {body && <FindingList findings={body.findings} />}
      {text !== undefined && (
        <pre class="body-text" tabIndex={0} aria-label={t().tabs.body} data-test="body">
          {text.slice(0, MOST)}
        </pre>
      )}
      {text !== undefined && text.length > MOST && <p class="soft">{t().cut}</p>}
    </div>
  );
}

// What a model writes, while it does: an answer with its words and a call that waits, or how far a summary is; what
// happened on the way, and why it went no further.
import { useEffect, useRef, useState } from "preact/hooks";
import type { SummaryWork } from "../api";
import { inspectorTab } from "../inspector/state";
import { allFindings } from "../preview";
import { go } from "../route";
import { roleName, t } from "../language";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";
import { answer, dismiss, send, stop, verdict } from "./answer";
import { FormattedText } from "./formatted-text";
import { write } from "./writer";

export function LiveAnswer({ isFailureShown }: { isFailureShown: boolean }) {
  const now = answer.value;
  if (!now || now.turn === 0) return null;
  const { answering, wantsToCall, allow, refuse, failed, summarizing, noSummary, cancel } = t().talk;
  const { summary } = now;
  // The last message already reports the failure.
  const failure = isFailureShown && !summary ? undefined : now.failure;
  // Diagnostics of the preview are shown as one link.
  const known = new Set(allFindings.value.map(({ message }) => message));
  const notes = now.notes.filter((note) => !known.has(note));
  const knownCount = now.notes.length - notes.length;
  const isEmpty = !now.isRunning && notes.length === 0 && failure === undefined;
  if (isEmpty) return null;
  return (
    <section class={`live ${now.isRunning ? "running" : ""}`} aria-busy={now.isRunning} data-test="live">
      {now.isRunning && (
        <div class="line">
          {summary ? <Icon name="layers" /> : <b class="role assistant">{roleName("assistant")}</b>}
          <span class="soft" role="status" data-test="live-status">
            {summary ? summarizing(summary.request, summary.requests) : answering}
          </span>
          {summary && <Elapsed key={now.turn} />}
          <span class="gap" />
          {summary && (
            <Button icon="x" onClick={() => void stop()} testId="stop">
              {cancel}
            </Button>
          )}
        </div>
      )}
      {now.text !== "" && <LiveText key={now.turn} text={now.text} />}
      {now.notes.length > 0 && (
        <ul class="soft notes">
          {notes.map((note, at) => (
            <li key={at}>{note}</li>
          ))}
          {knownCount > 0 && (
            <li>
              <button type="button" class="link" onClick={showFindings} data-test="known-findings">
                {t().talk.knownFindings(knownCount)}
              </button>
            </li>
          )}
        </ul>
      )}
      {now.call && (
        <div class="bar-note warning" role="alert" data-test="pending-call">
          <span>
            {wantsToCall(now.call.name)} <code>{now.call.arguments}</code>
          </span>
          <Button kind="main" onClick={() => now.call && void verdict(now.call.id, true)} testId="allow">
            {allow}
          </Button>
          <Button onClick={() => now.call && void verdict(now.call.id, false)} testId="refuse">
            {refuse}
          </Button>
        </div>
      )}
      {failure !== undefined && (
        <p class="bar-note error" role="alert" data-test="turn-failure">
          <Icon name="circle-alert" />
          <span>
            {summary ? `${noSummary} ${failure}` : t().labeled(failed, failure)}
          </span>
          {summary ? (
            <WaysOut of={summary} />
          ) : (
            <Button onClick={() => void send("")} testId="try-again">
              {t().tryAgain}
            </Button>
          )}
        </p>
      )}
    </section>
  );
}

/** Text that grows. It is parsed at most once per frame, because chunks can arrive faster. */
function LiveText({ text }: { text: string }) {
  const [shown, show] = useState(text);
  const latest = useRef(text);
  const frame = useRef(0);
  latest.current = text;
  useEffect(() => {
    if (latest.current === shown) return;
    frame.current ||= requestAnimationFrame(() => {
      frame.current = 0;
      show(latest.current);
    });
  }, [text]);
  useEffect(() => () => cancelAnimationFrame(frame.current), []);
  return <FormattedText text={shown} testId="live-text" />;
}

function showFindings(): void {
  inspectorTab.value = "findings";
  if (matchMedia("(max-width: 899px)").matches) go("preview");
}

/** For how long this window has seen it. */
function Elapsed() {
  const [seconds, count] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => count((before) => before + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return <span class="soft">{t().talk.seconds(seconds)}</span>;
}

/** What can be done where a model has written no summary. */
function WaysOut({ of: { of } }: { of: SummaryWork }) {
  const sentences = async () => {
    if (await write("sentences", of)) dismiss();
  };
  return (
    <>
      <Button onClick={() => void write("model", of)} testId="summary-again">
        {t().tryAgain}
      </Button>
      <Button onClick={() => void sentences()} testId="summary-sentences">
        {t().talk.useSentences}
      </Button>
    </>
  );
}

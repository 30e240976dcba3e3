// The answer while it is written: its words, what happened on the way, a call that waits, and why it went no further.
import { t } from "../language";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";
import { answer, send, stop, verdict } from "./answer";

export function LiveAnswer() {
  const now = answer.value;
  if (!now || now.turn === 0) return null;
  const { answering, stopAnswer, wantsToCall, allow, refuse, goOn, stoppedBy } = t().talk;
  const isEmpty = !now.isRunning && now.notes.length === 0 && now.failure === undefined;
  if (isEmpty) return null;
  return (
    <section class={`live ${now.isRunning ? "running" : ""}`} aria-busy={now.isRunning} data-test="live">
      {now.isRunning && (
        <div class="line">
          <b class="role assistant">assistant</b>
          <span class="soft" role="status">
            {answering}
          </span>
          <span class="gap" />
          <Button icon="x" onClick={() => void stop()} testId="stop">
            {stopAnswer}
          </Button>
        </div>
      )}
      {now.text !== "" && (
        <div class="text" data-test="live-text">
          {now.text}
        </div>
      )}
      {now.notes.length > 0 && (
        <ul class="soft notes">
          {now.notes.map((note, at) => (
            <li key={at}>{note}</li>
          ))}
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
      {now.failure !== undefined && (
        <p class="bar-note error" role="alert" data-test="turn-failure">
          <Icon name="circle-alert" />
          <span>
            {stoppedBy} {now.failure}
          </span>
          <Button onClick={() => void send("")} testId="continue">
            {goOn}
          </Button>
        </p>
      )}
    </section>
  );
}

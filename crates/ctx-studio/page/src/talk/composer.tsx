// The next message of the user. It is the input of the turn, so the preview shows it while the user types.
import { useMemo, useRef, useState } from "preact/hooks";
import { copyText } from "../copy";
import { indented } from "../indented";
import { PrefixNote } from "../inspector/prefix-note";
import { preview } from "../preview";
import { projectInfo } from "../project";
import { CallError } from "../transport";
import { setTurn, turn } from "../turn";
import { figure, roleName, t } from "../language";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { Icon } from "../ui/icon";
import { Menu } from "../ui/menu";
import { answer, isAnswering, isAsking, send, stop, wouldSend } from "./answer";
import { attach, AttachButton, attached, AttachedFiles, isAttaching } from "./attached";
import { dropInput } from "./drafts";
import { editLast, swipeLast } from "./message-actions";
import { goToEnd, hasNewText } from "./scroll";
import { isBusy, take, talk, talkId } from "./state";

const ROLES = ["user", "assistant", "system"] as const;
/** Keys in the empty composer that switch between versions of the newest reply. */
const SWIPES: Partial<Record<string, -1 | 1>> = { ArrowLeft: -1, ArrowRight: 1 };
/** Touch keyboards have no Shift+Enter, so Enter starts a line there. */
const isTouched = matchMedia("(pointer: coarse)");

export function Composer() {
  const [request, show] = useState<string | undefined>(undefined);
  const area = useRef<HTMLTextAreaElement>(null);
  const texts = t().talk;
  const text = turn.value.input ?? "";
  const isBlank = text.trim() === "";
  const isNothing = isBlank && attached.value.length === 0;
  // What is sent names the state of the file that it goes on with.
  const isNow = isBusy.value || isAsking.value || isAnswering.value || isAttaching.value || talk.value === undefined;
  const isReplying = isAnswering.value && answer.value?.summary === undefined;
  const add = async (role: string) => {
    const id = talkId.peek() ?? "";
    if (await take({ kind: "append", role, text })) dropInput(id, text);
    goToEnd();
  };
  const say = async () => {
    const [id, files] = [talkId.peek() ?? "", attached.peek()];
    if (isNothing || isNow) return;
    await send(text, files, undefined, () => {
      dropInput(id, text);
      attached.value = attached.peek().filter((one) => !files.includes(one));
    });
  };
  const look = () =>
    wouldSend(text, attached.peek()).then(show, (error) => show(error instanceof CallError ? error.message || t().offline : String(error)));
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter that confirms a candidate of an input method does not send.
    if (event.isComposing || event.altKey) return;
    const isCommand = event.ctrlKey || event.metaKey;
    const swipe = text === "" && !isCommand && !event.shiftKey ? SWIPES[event.key] : undefined;
    if (event.key === "Enter" && (isCommand || (!event.shiftKey && !isTouched.matches))) {
      event.preventDefault();
      void say();
    } else if (swipe !== undefined && !isNow) void swipeLast(swipe);
    else if (event.key === "ArrowUp" && text === "" && !isNow && editLast()) event.preventDefault();
  };
  return (
    <form
      class="composer"
      data-drops
      onDrop={(event) => void attach([...(event.dataTransfer?.files ?? [])])}
      onSubmit={(event) => {
        event.preventDefault();
        void say();
      }}
    >
      {hasNewText.value && (
        <Button class="new-text" icon="arrow-down" onClick={goToEnd} testId="new-text">
          {texts.newText}
        </Button>
      )}
      {/* A narrow window has no preview beside the conversation. */}
      {preview.value?.prefix?.plannedBreak && (
        <div class="only-narrow">
          <PrefixNote />
        </div>
      )}
      <div class="composer-box">
        <AttachedFiles after={() => area.current?.focus()} />
        <textarea
          ref={area}
          rows={2}
          value={text}
          aria-label={texts.addMessage}
          placeholder={isTouched.matches ? texts.messageHintTouch : texts.messageHint}
          data-test="composer"
          onInput={(event) => setTurn({ input: event.currentTarget.value })}
          onPaste={(event) => {
            const files = [...(event.clipboardData?.files ?? [])];
            if (files.length === 0) return;
            event.preventDefault();
            void attach(files);
          }}
          onKeyDown={onKeyDown}
        />
        <div class="composer-row">
          <AttachButton isDisabled={isNow} />
          <Menu
            label={texts.onlyAdd}
            icon="plus"
            isDisabled={isBlank || isNow || attached.value.length > 0}
            items={() => ROLES.map((role) => ({ label: texts.addAs(roleName(role)), testId: `add-${role}`, run: () => void add(role) }))}
            testId="add-message"
          />
          <span class="gap" />
          <span class="soft model" title={t().model} data-test="composer-model">
            {turn.value.model ?? projectInfo.value?.model ?? ""}
          </span>
          {isReplying ? (
            <Button icon="x" onClick={() => void stop()} testId="stop">
              {texts.stopAnswer}
            </Button>
          ) : (
            <Button icon="arrow-up" kind="main" isDisabled={isNothing || isNow} onClick={() => void say()} testId="send">
              {texts.sendIt}
            </Button>
          )}
        </div>
      </div>
      <div class="composer-foot">
        <Usage />
        <button type="button" class="link" disabled={isNow} onClick={() => void look()} data-test="show-request">
          {texts.showRequest}
        </button>
      </div>
      {request !== undefined && <RequestDialog body={request} close={() => show(undefined)} />}
    </form>
  );
}

/** Token usage of the request with the message. */
function Usage() {
  const usage = preview.value?.usage;
  if (usage?.tokens === undefined) return null;
  const limit = usage.limit === undefined ? "" : ` / ${figure(usage.limit)}`;
  const isOver = preview.value?.infeasible !== undefined || (usage.limit !== undefined && usage.tokens > usage.limit);
  return (
    <span class={isOver ? "wrong" : "soft"} data-test="composer-usage">
      {isOver && <Icon name="triangle-alert" />} {usage.isExact ? "" : "~"}
      {figure(usage.tokens)}
      {limit} {t().tokens} ·
    </span>
  );
}

/** The request, indented for reading. Copying gives the exact body. */
function RequestDialog({ body, close }: { body: string; close: () => void }) {
  // Where there is no body, an error message is shown.
  const text = useMemo(() => (body.startsWith("{") ? indented(body) : body), [body]);
  return (
    <Dialog
      title={t().talk.requestTitle}
      onClose={close}
      isWide
      actions={
        <Button icon="copy" onClick={() => void copyText(body)} testId="copy-request">
          {t().copy}
        </Button>
      }
    >
      <pre class="request" tabIndex={0} data-test="request">
        {text}
      </pre>
    </Dialog>
  );
}

// A message that is sent to the model, or only added; and what would be sent, before it is.
import { useRef, useState } from "preact/hooks";
import { PrefixNote } from "../inspector/prefix-note";
import { preview } from "../preview";
import { CallError } from "../transport";
import { t } from "../language";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { Select } from "../ui/field";
import { isAnswering, isAsking, send, wouldSend } from "./answer";
import { attach, AttachButton, attached, AttachedFiles, isAttaching } from "./attached";
import { isBusy, take, talk } from "./state";

const ROLES = ["user", "assistant", "system"];

export function Composer() {
  const [text, setText] = useState("");
  const [role, setRole] = useState("user");
  const [request, show] = useState<string | undefined>(undefined);
  const { addMessage, messageHint, sendIt, showRequest, requestTitle, onlyAdd } = t().talk;
  const area = useRef<HTMLTextAreaElement>(null);
  const isBlank = text.trim() === "";
  const isNothing = isBlank && attached.value.length === 0;
  // What is sent names the state of the file that it goes on with.
  const isNow = isBusy.value || isAsking.value || isAnswering.value || isAttaching.value || talk.value === undefined;
  // What was typed meanwhile stays.
  const clear = () => setText((now) => (now === text ? "" : now));
  const add = async () => {
    if (!isBlank && attached.peek().length === 0 && (await take({ kind: "append", role, text }))) clear();
  };
  const say = async () => {
    if (role !== "user") return add();
    const files = attached.peek();
    if (isNothing || isNow || !(await send(text, files))) return;
    clear();
    attached.value = attached.peek().filter((one) => !files.includes(one));
  };
  const look = () =>
    wouldSend(text, attached.peek()).then(show, (error) => show(error instanceof CallError ? error.message || t().offline : String(error)));
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
      <Select
        label={t().role}
        isLabelHidden
        value={role}
        size="short"
        options={ROLES.map((value) => ({ value, label: value }))}
        onChange={setRole}
      />
      {/* A narrow window has no preview beside the conversation. */}
      {preview.value?.prefix?.plannedBreak && (
        <div class="only-narrow">
          <PrefixNote />
        </div>
      )}
      <AttachedFiles after={() => area.current?.focus()} />
      <textarea
        ref={area}
        rows={2}
        value={text}
        aria-label={addMessage}
        placeholder={messageHint}
        data-test="composer"
        onInput={(event) => setText(event.currentTarget.value)}
        onPaste={(event) => {
          const files = [...(event.clipboardData?.files ?? [])];
          if (files.length === 0) return;
          event.preventDefault();
          void attach(files);
        }}
        onKeyDown={(event) => {
          // Enter that confirms a candidate of an input method does not send.
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing) void say();
        }}
      />
      <span class="actions">
        <AttachButton isDisabled={isNow || role !== "user"} />
        <Button icon="eye" isDisabled={isNow || role !== "user"} onClick={() => void look()} testId="show-request">
          {showRequest}
        </Button>
        <Button icon="plus" isDisabled={isBlank || isNow || attached.value.length > 0} onClick={() => void add()} testId="add-message" title={onlyAdd}>
          {t().add}
        </Button>
        <Button
          icon="arrow-right"
          kind="main"
          isDisabled={isNothing || isNow || role !== "user"}
          onClick={() => void say()}
          testId="send"
        >
          {sendIt}
        </Button>
      </span>
      {request !== undefined && (
        <Dialog title={requestTitle} onClose={() => show(undefined)} isWide>
          <pre class="request" tabIndex={0} data-test="request">
            {request}
          </pre>
        </Dialog>
      )}
    </form>
  );
}

// Form to edit a message. The browser keeps the text until it is saved or canceled.
import { useEffect, useRef, useState } from "preact/hooks";
import type { MessageView } from "../api";
import { roleName, t } from "../language";
import { Button } from "../ui/button";
import { send } from "./answer";
import { dropDraft, keepDraft, readDraft } from "./drafts";
import { take, talkId } from "./state";

export function MessageForm({ row, isFixed, close }: { row: MessageView; isFixed: boolean; close: () => void }) {
  const [id] = useState(talkId.peek() ?? "");
  const [kept] = useState(() => readDraft(id, row.id));
  const [text, setText] = useState(kept ?? row.text);
  const area = useRef<HTMLTextAreaElement>(null);
  const { asBranch, sendEdited, cancel } = t().talk;
  const isOfUser = row.role === "user" && !row.summary;
  useEffect(() => {
    // Do not take the focus for a restored draft.
    if (kept !== undefined) return;
    area.current?.focus();
    area.current?.setSelectionRange(text.length, text.length);
  }, []);
  const end = () => {
    dropDraft(id, row.id);
    close();
  };
  const save = async (kind: "edit" | "branch") => {
    const isTaken = text === row.text || (!isFixed && (await take({ kind, id: row.id, text })));
    if (isTaken) end();
    return isTaken;
  };
  // Without an edit, only the reply starts a branch.
  const sendOn = async () => {
    if (isFixed || text.trim() === "") return;
    if (text === row.text) {
      end();
      await send("", [], { answerTo: row.id });
    } else if (await save("branch")) await send("");
  };
  const submit = () => void (isOfUser ? sendOn() : save("edit"));
  return (
    <form
      class="text-form"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.isComposing) end();
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing) submit();
      }}
    >
      <textarea
        ref={area}
        rows={Math.min(20, Math.max(3, text.split("\n").length))}
        value={text}
        aria-label={t().textOf(`${roleName(row.role)} ${row.place}`)}
        onInput={(event) => {
          setText(event.currentTarget.value);
          keepDraft(id, event.currentTarget.value, row.id);
        }}
        data-test="message-text"
      />
      <div class="actions">
        {isOfUser && (
          <Button kind="main" isDisabled={isFixed || text.trim() === ""} onClick={() => void sendOn()} testId="save-send">
            {sendEdited}
          </Button>
        )}
        <Button kind={isOfUser ? "plain" : "main"} isDisabled={isFixed} onClick={() => void save("edit")} testId="save-message">
          {t().save}
        </Button>
        {!row.summary && (
          <Button isDisabled={isFixed} onClick={() => void save("branch")} testId="save-branch">
            {asBranch}
          </Button>
        )}
        <Button kind="quiet" onClick={end} testId="cancel-edit">
          {cancel}
        </Button>
      </div>
    </form>
  );
}

// Form to edit a message. The browser keeps the text until it is saved or canceled.
import { useEffect, useRef, useState } from "preact/hooks";
import type { MessageView } from "../api";
import { toast } from "../announce";
import { Versions } from "../frame/versions";
import { roleName, t } from "../language";
import { digest } from "../rebase";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";
import { send } from "./answer";
import { dropDraft, keepDraft, readDraft } from "./drafts";
import { take, talkId } from "./state";

interface Props {
  row: MessageView;
  isFixed: boolean;
  /** Whether the page opened the form for a kept text. */
  isRestored: boolean;
  close: () => void;
}

export function MessageForm({ row, isFixed, isRestored, close }: Props) {
  const [id] = useState(talkId.peek() ?? "");
  const [kept] = useState(() => readDraft(id, row.id));
  const [text, setText] = useState(kept?.text ?? row.text);
  const [was, setWas] = useState(() => kept?.was ?? digest(row.text));
  const area = useRef<HTMLTextAreaElement>(null);
  const { asBranch, sendEdited, cancel, editKept, changedMessage } = t().talk;
  const isOfUser = row.role === "user" && !row.summary;
  useEffect(() => {
    if (isRestored) return;
    area.current?.focus();
    area.current?.setSelectionRange(text.length, text.length);
  }, []);
  // Another window or program changed the message since this edit began.
  const isClash = text !== row.text && was !== digest(row.text);
  const cannot = isFixed || isClash;
  const end = () => {
    dropDraft(id, text, row.id);
    close();
  };
  const type = (next: string, base = was) => {
    setText(next);
    setWas(base);
    keepDraft(id, next, row.id, base);
  };
  const save = async (kind: "edit" | "branch") => {
    const isTaken = text === row.text || (!cannot && (await take({ kind, id: row.id, text })));
    if (isTaken) end();
    return isTaken;
  };
  const leave = () => {
    if (text === row.text) return end();
    close();
    toast(editKept);
  };
  // Without an edit, only the reply starts a branch.
  const sendOn = async () => {
    if (cannot || text.trim() === "") return;
    if (text === row.text) {
      end();
      await send("", [], { answerTo: row.id });
    } else if ((await save("branch")) && talkId.peek() === id) await send("");
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
        if (event.key === "Escape" && !event.isComposing) leave();
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing) submit();
      }}
    >
      <textarea
        ref={area}
        rows={Math.min(20, Math.max(3, text.split("\n").length))}
        value={text}
        aria-label={t().textOf(`${roleName(row.role)} ${row.place}`)}
        onInput={(event) => type(event.currentTarget.value)}
        data-test="message-text"
      />
      {isClash && (
        <section class="conflict" role="alert" aria-label={t().conflicts.title} data-test="message-conflict">
          <p>
            <Icon name="triangle-alert" />
            <b>{changedMessage}</b>
          </p>
          <Versions fields={[{ mine: text, theirs: row.text }]} />
          <p class="actions">
            <Button kind="main" onClick={() => type(text, digest(row.text))} testId="keep-mine">
              {t().conflicts.keepMine}
            </Button>
            <Button onClick={end} testId="take-theirs">
              {t().conflicts.takeTheirs}
            </Button>
          </p>
        </section>
      )}
      <div class="actions">
        {isOfUser && (
          <Button kind="main" isDisabled={cannot || text.trim() === ""} onClick={() => void sendOn()} testId="save-send">
            {sendEdited}
          </Button>
        )}
        <Button kind={isOfUser ? "plain" : "main"} isDisabled={cannot} onClick={() => void save("edit")} testId="save-message">
          {t().save}
        </Button>
        {!row.summary && (
          <Button isDisabled={cannot} onClick={() => void save("branch")} testId="save-branch">
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

// A message of the path; a summary is a stack that can be unfolded.
import { useEffect, useRef, useState } from "preact/hooks";
import type { MessageView } from "../api";
import { figure, t } from "../language";
import { toggled } from "../inspector/state";
import { Button, IconButton } from "../ui/button";
import { Icon } from "../ui/icon";
import { SummaryDetails } from "./summary-details";
import { take, unfolded, wanted } from "./state";
import { AgainDialog } from "./writer";

export function MessageItem({ row, isFixed }: { row: MessageView; isFixed: boolean }) {
  const [isEditing, edit] = useState(false);
  const [isDetailed, detail] = useState(false);
  const [isAgain, again] = useState(false);
  const item = useRef<HTMLLIElement>(null);
  const isWanted = wanted.value?.id === row.id;
  useEffect(() => {
    if (isWanted) (item.current?.querySelector("mark") ?? item.current)?.scrollIntoView({ block: "center" });
  }, [isWanted, wanted.value]);
  const { states, summaryOf } = t().talk;
  const label = row.summary ? summaryOf(row.summary.messages) : `${row.role} ${row.place}`;
  return (
    <li
      ref={item}
      class={`message is-${row.state} ${row.summary ? "stack" : ""} ${row.hiddenBy ? "behind" : ""} ${isWanted ? "wanted" : ""}`}
      data-id={row.id}
      data-state={row.state}
    >
      <div class="line">
        <span class="number">{row.place}</span>
        {row.summary ? <Stack row={row} /> : <b class={`role ${row.role}`}>{row.role}</b>}
        {row.name && <span>{row.name}</span>}
        {row.branch && <Branch branch={row.branch} isFixed={isFixed} />}
        {row.state !== "sent" && <span class="badge">{states[row.state]}</span>}
        <span class="gap" />
        <span class="soft tokens">{figure(row.tokens)}</span>
        <Commands
          row={row}
          label={label}
          isFixed={isFixed}
          edit={() => edit(true)}
          detail={() => detail(!isDetailed)}
          rewrite={() => again(true)}
        />
      </div>
      {isEditing ? <TextForm row={row} close={() => edit(false)} /> : <Text row={row} />}
      {row.attachments && (
        <ul class="chips" aria-label={t().talk.attachedFiles}>
          {row.attachments.map((name, at) => (
            <li key={at} class="chip">
              <Icon name="file-text" /> {name}
            </li>
          ))}
        </ul>
      )}
      {row.calls && (
        <ul class="calls">
          {row.calls.map((call, at) => (
            <li key={at}>
              <Icon name="wand-sparkles" /> <code>{call}</code>
            </li>
          ))}
        </ul>
      )}
      {isDetailed && row.summary && <SummaryDetails id={row.id} />}
      {isAgain && <AgainDialog id={row.id} close={() => again(false)} />}
    </li>
  );
}

/** What a summary stands for. */
function Stack({ row }: { row: MessageView }) {
  const { compressed } = t().talk;
  const of = row.summary;
  if (!of) return null;
  return (
    <>
      <Icon name="layers" />
      <b>{compressed(of.messages, figure(of.originalTokens), figure(of.tokens))}</b>
      {of.atMillis !== undefined && (
        <time class="soft" dateTime={new Date(of.atMillis).toISOString()}>
          {new Date(of.atMillis).toLocaleString(document.documentElement.lang)}
        </time>
      )}
    </>
  );
}

function Branch({ branch, isFixed }: { branch: NonNullable<MessageView["branch"]>; isFixed: boolean }) {
  const { earlierBranch, laterBranch } = t().talk;
  const show = (id: string | undefined) => id !== undefined && void take({ kind: "activate", id });
  return (
    <span class="branch">
      <IconButton
        icon="arrow-up"
        label={earlierBranch}
        isDisabled={isFixed || branch.before === undefined}
        onClick={() => show(branch.before)}
      />
      {branch.at}/{branch.of}
      <IconButton
        icon="arrow-down"
        label={laterBranch}
        isDisabled={isFixed || branch.after === undefined}
        onClick={() => show(branch.after)}
      />
    </span>
  );
}

function Commands({
  row,
  label,
  isFixed,
  edit,
  detail,
  rewrite,
}: {
  row: MessageView;
  label: string;
  isFixed: boolean;
  edit: () => void;
  detail: () => void;
  rewrite: () => void;
}) {
  const { unfold, fold, again, more, editOne, deleteOne } = t().talk;
  const isOn = row.state !== "off";
  const isUnfolded = unfolded.value.has(row.id);
  return (
    <span class="commands">
      {row.summary && (
        <>
          <Button
            class="small"
            kind="quiet"
            pressed={isUnfolded}
            onClick={() => (unfolded.value = toggled(unfolded.value, row.id))}
            testId="unfold"
          >
            {isUnfolded ? fold : unfold}
          </Button>
          <Button class="small" kind="quiet" onClick={detail} testId="details">
            {more}
          </Button>
          <IconButton
            icon="refresh-cw"
            label={again}
            isDisabled={isFixed}
            onClick={rewrite}
            testId="regenerate"
          />
        </>
      )}
      <IconButton icon="pencil" label={editOne(label)} isDisabled={isFixed || row.isCut} onClick={edit} testId="edit" />
      <IconButton
        icon="power"
        label={t().switchOne(label)}
        pressed={isOn}
        isDisabled={isFixed}
        onClick={() => void take({ kind: "toggle", id: row.id, enabled: !isOn })}
        testId="toggle"
      />
      <IconButton
        icon="trash-2"
        label={deleteOne(label)}
        isDisabled={isFixed}
        onClick={() => void take({ kind: "remove", id: row.id })}
        testId="remove"
      />
    </span>
  );
}

function Text({ row }: { row: MessageView }) {
  const span = wanted.value?.id === row.id ? wanted.value : undefined;
  if (span?.from === undefined || span.to === undefined) return <div class="text">{row.text}</div>;
  return (
    <div class="text">
      {row.text.slice(0, span.from)}
      <mark>{row.text.slice(span.from, span.to)}</mark>
      {row.text.slice(span.to)}
    </div>
  );
}

/** Another text for a message. What others do meanwhile does not touch it. */
function TextForm({ row, close }: { row: MessageView; close: () => void }) {
  const [text, setText] = useState(row.text);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => area.current?.focus(), []);
  const send = async (kind: "edit" | "branch") => {
    if (text === row.text || (await take({ kind, id: row.id, text }))) close();
  };
  return (
    <form
      class="text-form"
      onSubmit={(event) => {
        event.preventDefault();
        void send("edit");
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.isComposing) close();
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing) void send("edit");
      }}
    >
      <textarea
        ref={area}
        rows={Math.min(14, Math.max(3, text.split("\n").length))}
        value={text}
        aria-label={t().textOf(`${row.role} ${row.place}`)}
        onInput={(event) => setText(event.currentTarget.value)}
        data-test="message-text"
      />
      <div class="actions">
        <Button kind="main" onClick={() => void send("edit")} testId="save-message">
          {t().save}
        </Button>
        {!row.summary && (
          <Button onClick={() => void send("branch")} testId="save-branch">
            {t().talk.asBranch}
          </Button>
        )}
        <Button kind="quiet" onClick={close}>
          {t().talk.cancel}
        </Button>
      </div>
    </form>
  );
}

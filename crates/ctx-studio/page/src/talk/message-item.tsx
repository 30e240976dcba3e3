// A message of the path; a summary is a stack that can be unfolded.
import { useEffect, useRef, useState } from "preact/hooks";
import type { MessageView } from "../api";
import { copyText } from "../copy";
import { figure, roleName, t } from "../language";
import { toggled } from "../inspector/state";
import { Button, IconButton } from "../ui/button";
import { Icon } from "../ui/icon";
import { Menu, type MenuItem } from "../ui/menu";
import { send } from "./answer";
import { readDraft } from "./drafts";
import { FormattedText } from "./formatted-text";
import { regenerate, swipe, tryAgain, wantedEdit } from "./message-actions";
import { MessageForm } from "./message-form";
import { SummaryDetails } from "./summary-details";
import { take, talkId, unfolded, wanted } from "./state";
import { AgainDialog } from "./writer";

export interface MessageProps {
  row: MessageView;
  /** Whether the conversation cannot be changed now. */
  isFixed: boolean;
  isLast: boolean;
  /** Whether a message of the user precedes it; false for a greeting. */
  isAnswer: boolean;
}

export function MessageItem({ row, isFixed, isLast, isAnswer }: MessageProps) {
  const [editing, edit] = useState<"restored" | "opened" | undefined>(() =>
    !row.isCut && readDraft(talkId.peek() ?? "", row.id) ? "restored" : undefined,
  );
  const [isDetailed, detail] = useState(false);
  const [isAgain, again] = useState(false);
  const item = useRef<HTMLLIElement>(null);
  const isWanted = wanted.value?.id === row.id;
  useEffect(() => {
    if (isWanted) (item.current?.querySelector("mark") ?? item.current)?.scrollIntoView({ block: "center" });
  }, [isWanted, wanted.value]);
  const isToEdit = wantedEdit.value === row.id;
  useEffect(() => {
    if (!isToEdit) return;
    wantedEdit.value = undefined;
    edit("opened");
  }, [isToEdit]);
  const close = () => {
    edit(undefined);
    requestAnimationFrame(() => {
      if (document.activeElement === document.body) item.current?.querySelector<HTMLElement>("[data-test=edit]")?.focus();
    });
  };
  const { states, summaryOf, attachedFiles, answer } = t().talk;
  const label = row.summary ? summaryOf(row.summary.messages) : `${roleName(row.role)} ${row.place}`;
  const isFailed = row.failure !== undefined;
  return (
    <li
      ref={item}
      class={`message is-${isFailed ? "failed" : row.state} of-${row.role} ${row.summary ? "stack" : ""} ${row.hiddenBy ? "behind" : ""} ${isWanted ? "wanted" : ""}`}
      data-id={row.id}
      data-state={row.state}
    >
      <div class="line">
        <span class="number">{row.place}</span>
        {row.summary ? <Stack row={row} /> : <b class={`role ${row.role}`}>{roleName(row.role)}</b>}
        {row.name && <span>{row.name}</span>}
        {row.state !== "sent" && !isFailed && <span class="badge">{states[row.state]}</span>}
        <span class="gap" />
        {!isFailed && (
          <span class="soft tokens" title={t().tokens}>
            {figure(row.tokens)}
          </span>
        )}
        <Commands
          row={row}
          label={label}
          isFixed={isFixed}
          isLast={isLast}
          isAnswer={isAnswer}
          edit={() => edit("opened")}
          detail={() => detail(!isDetailed)}
          rewrite={() => again(true)}
        />
      </div>
      {editing ? <MessageForm row={row} isFixed={isFixed} isRestored={editing === "restored"} close={close} /> : <Text row={row} />}
      {row.failure && <Failure row={row} isFixed={isFixed} isLast={isLast} />}
      {row.attachments && (
        <ul class="chips" aria-label={attachedFiles}>
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
      {isLast && row.role === "user" && !row.summary && !editing && (
        <p class="message-foot">
          <Button icon="message-square" isDisabled={isFixed} onClick={() => void send("")} testId="answer">
            {answer}
          </Button>
        </p>
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

/** Switches between the versions of a message. */
function Branch({ row, isFixed }: { row: MessageView; isFixed: boolean }) {
  const { earlierBranch, laterBranch, branchOf } = t().talk;
  const { branch } = row;
  if (!branch) return null;
  return (
    <span class="branch" role="group" aria-label={branchOf(branch.at, branch.of)}>
      <IconButton
        class="back"
        icon="chevron-right"
        label={earlierBranch}
        isDisabled={isFixed || branch.before === undefined}
        onClick={() => void swipe(row, -1)}
        testId="branch-before"
      />
      <span>
        {branch.at}/{branch.of}
      </span>
      <IconButton
        icon="chevron-right"
        label={laterBranch}
        isDisabled={isFixed || branch.after === undefined}
        onClick={() => void swipe(row, 1)}
        testId="branch-after"
      />
    </span>
  );
}

function Commands({
  row,
  label,
  isFixed,
  isLast,
  isAnswer,
  edit,
  detail,
  rewrite,
}: MessageProps & { label: string; edit: () => void; detail: () => void; rewrite: () => void }) {
  const texts = t().talk;
  const isOn = row.state !== "off";
  const isUnfolded = unfolded.value.has(row.id);
  const isReply = row.role === "assistant" && !row.summary && !row.failure && !row.hiddenBy;
  const items = (): MenuItem[] => [
    { label: t().copy, icon: "copy", run: () => void copyText(row.text) },
    ...(isReply && isLast && !row.calls
      ? [{ label: texts.goOn, icon: "arrow-right", isDisabled: isFixed, testId: "continue", run: () => void send("", [], { continues: true }) }]
      : []),
    ...(row.failure
      ? []
      : [
          {
            label: isOn ? texts.disable : texts.enable,
            icon: "power",
            isDisabled: isFixed,
            testId: "toggle",
            run: () => void take({ kind: "toggle", id: row.id, enabled: !isOn }),
          },
        ]),
    {
      label: t().delete,
      detail: row.summary || isLast ? undefined : texts.deletesBelow,
      icon: "trash-2",
      isDangerous: true,
      isDisabled: isFixed,
      testId: "remove",
      run: () => void take({ kind: "remove", id: row.id }),
    },
  ];
  return (
    <span class="commands">
      <Branch row={row} isFixed={isFixed} />
      {row.summary && (
        <>
          <Button
            class="small"
            kind="quiet"
            pressed={isUnfolded}
            onClick={() => (unfolded.value = toggled(unfolded.value, row.id))}
            testId="unfold"
          >
            {isUnfolded ? texts.fold : texts.unfold}
          </Button>
          <Button class="small" kind="quiet" onClick={detail} testId="details">
            {texts.more}
          </Button>
          <IconButton icon="refresh-cw" label={texts.again} isDisabled={isFixed} onClick={rewrite} testId="regenerate" />
        </>
      )}
      {isReply && isAnswer && (
        <Button
          class={`small regenerate ${isLast ? "" : "short"}`}
          kind="quiet"
          icon="refresh-cw"
          label={texts.regenerateOne(label)}
          isDisabled={isFixed}
          onClick={() => void regenerate(row)}
          testId="regenerate-reply"
        >
          {texts.regenerate}
        </Button>
      )}
      {!row.failure && (
        <IconButton icon="pencil" label={texts.editOne(label)} isDisabled={isFixed || row.isCut} onClick={edit} testId="edit" />
      )}
      <Menu label={t().moreFor(label)} icon="ellipsis" items={items} testId="message-menu" />
    </span>
  );
}

/** The error of a failed turn. The newest turn can be retried. */
function Failure({ row, isFixed, isLast }: Omit<MessageProps, "isAnswer">) {
  const [isOpen, open] = useState(false);
  const { failed, failureDetails } = t().talk;
  const { code, message } = row.failure ?? { message: "" };
  const [first = "", ...rest] = message.split("\n");
  return (
    <div class="bar-note error failure" data-test="turn-failure">
      <Icon name="triangle-alert" />
      <span>
        {t().labeled(failed, first)}
        {isOpen && <pre data-test="failure-text">{[code, ...rest].filter((line) => line !== undefined).join("\n")}</pre>}
      </span>
      {isLast && (
        <Button isDisabled={isFixed} onClick={() => void tryAgain(row)} testId="try-again">
          {t().tryAgain}
        </Button>
      )}
      <Button kind="quiet" pressed={isOpen} onClick={() => open(!isOpen)} testId="failure-details">
        {failureDetails}
      </Button>
    </div>
  );
}

/** A marked place is shown in plain text, because its span refers to the source. */
function Text({ row }: { row: MessageView }) {
  const span = wanted.value?.id === row.id ? wanted.value : undefined;
  const cut = row.isCut && <p class="soft message-foot">{t().cut}</p>;
  if (span?.from !== undefined && span.to !== undefined) {
    return (
      <>
        <div class="text">
          {row.text.slice(0, span.from)}
          <mark>{row.text.slice(span.from, span.to)}</mark>
          {row.text.slice(span.to)}
        </div>
        {cut}
      </>
    );
  }
  if (row.failure && row.text === "") return null;
  const isFormatted = row.role === "user" || row.role === "assistant";
  return (
    <>
      {isFormatted ? <FormattedText text={row.text} /> : <div class="text">{row.text}</div>}
      {cut}
    </>
  );
}

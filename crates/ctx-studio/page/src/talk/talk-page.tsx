// A conversation: its branches, the active path with summaries as stacks, and what can be done with it.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { MessageView } from "../api";
import { painted, shown } from "../shown";
import { projectInfo } from "../project";
import { t } from "../language";
import { Button, IconButton } from "../ui/button";
import { Icon } from "../ui/icon";
import { Pager } from "../ui/paged";
import { answer, isAnswering } from "./answer";
import { CompressDialog } from "./compress-dialog";
import { Composer } from "./composer";
import { ConversationButton, TalkMenu } from "./conversations";
import { InsertedTexts } from "./inserted-texts";
import { LiveAnswer } from "./live-answer";
import { isOfUser } from "./message-actions";
import { MessageItem, type MessageProps } from "./message-item";
import { makeTalk, NewButton, NoTalk } from "./new-talk";
import { useEnd } from "./scroll";
import { BranchesButton, Tree } from "./tree";
import { stepName } from "./step-name";
import { first, isBusy, jump, load, take, talk, talkFailure, talkId, talkPath, wanted } from "./state";

/** How high a message is at least, in pixels: so many are drawn at once that they fill the window. */
const LEAST = 60;

export function TalkPage() {
  const [isCompressing, compress] = useState(false);
  const view = talk.value;
  const failure = talkFailure.value;
  const isWritable = view?.fixed === undefined && projectInfo.value?.isReadOnly === false;
  const isFixed = !isWritable || isAnswering.value;
  const canConvert = view?.isList === true && projectInfo.value?.isReadOnly === false;
  const texts = t().talk;
  return (
    <section class="talk-page" aria-labelledby="talk-title" aria-busy={isBusy.value}>
      <h1 id="talk-title" class="hidden">
        {t().pageNames.talk}
      </h1>
      <div class="talk-head">
        <div class="talk-tools" role="toolbar" aria-label={t().pageNames.talk}>
          <span class="which">
            <ConversationButton />
            <NewButton />
          </span>
          <span class="about">
            <BranchesButton />
            <StepButton kind="undo" isFixed={isFixed} />
            <StepButton kind="redo" isFixed={isFixed} />
            <Button isDisabled={isFixed || !view} onClick={() => compress(true)} testId="compress">
              {texts.compressMore}
            </Button>
            <TalkMenu />
          </span>
        </div>
        {view && <Tree isFixed={isFixed} />}
      </div>
      {failure && (
        <p class="bar-note error" role="alert">
          <Icon name="circle-alert" />
          {failure.message || t().offline}
          <Button onClick={() => void load()}>{t().tryAgain}</Button>
        </p>
      )}
      {view?.fixed !== undefined && (
        <p class="bar-note">
          <Icon name="info" />
          <span>{canConvert ? texts.isList : view.fixed}</span>
          {canConvert && (
            <Button onClick={() => void makeTalk(talkPath("/session"))} testId="make-session">
              {texts.makeSession}
            </Button>
          )}
        </p>
      )}
      {talkId.value === undefined && <NoTalk />}
      {view && <Path isFixed={isFixed} />}
      {view && isWritable && <Composer />}
      {isCompressing && view && <CompressDialog close={() => compress(false)} />}
    </section>
  );
}

/** Takes the latest step back, or does it again; its name is that of the step. */
function StepButton({ kind, isFixed }: { kind: "undo" | "redo"; isFixed: boolean }) {
  const [next] = talk.value?.[kind] ?? [];
  const label = next === undefined ? t()[kind] : t().labeled(t()[kind], stepName(next));
  return (
    <IconButton
      icon={kind === "undo" ? "undo-2" : "redo-2"}
      label={label}
      isDisabled={isFixed || next === undefined || isBusy.value}
      onClick={() => void take({ kind })}
      testId={`talk-${kind}`}
    />
  );
}

function Path({ isFixed }: { isFixed: boolean }) {
  const list = useRef<HTMLDivElement>(null);
  const view = talk.value;
  const rows = view?.rows ?? [];
  const ids = useParts(rows);
  const { turn, length = 0 } = answer.value ?? {};
  const total = view?.total ?? 0;
  useEnd(list, `${talkId.value} ${total} ${rows.at(-1)?.id} ${turn} ${length}`, total + length);
  if (!view) return null;
  const to = view.from + view.rows.length;
  const question = view.rows.findIndex(isOfUser);
  const textsBefore = (id: string | undefined) => {
    const texts = view.inserted?.filter(({ before }) => before === id) ?? [];
    return texts.length > 0 ? [<InsertedTexts key={`before ${id}`} texts={texts} />] : [];
  };
  const item = (row: MessageView, at: number) =>
    drawn({ row, isFixed, isLast: view.from + at === view.total - 1, isAnswer: question >= 0 && question < at });
  return (
    <>
      {view.total > view.rows.length && (
        <Pager from={view.from} to={to} count={view.total} label={t().talk.path} jump={jump} />
      )}
      {view.total === 0 && <p class="empty soft">{t().talk.empty}</p>}
      <div ref={list} class="path-place">
        <ol class="path" aria-label={t().talk.path} data-test="path">
          {view.rows.flatMap((row, at) => [
            ...textsBefore(row.id),
            ids.has(row.id) ? item(row, at) : <li key={row.id} class="message" />,
          ])}
          {textsBefore(undefined)}
        </ol>
        <LiveAnswer isFailureShown={view.rows.at(-1)?.failure !== undefined} />
      </div>
    </>
  );
}

/**
 * Returns the messages that are drawn: those of before, and a part of the others each time, first what must be seen, so
 * that no frame waits for all of them. A box stands for the rest meanwhile.
 */
function useParts(rows: readonly MessageView[]): ReadonlySet<string> {
  const known = useRef<ReadonlySet<string>>(new Set());
  const [, goOn] = useState(0);
  const ids = new Set(rows.map(({ id }) => id).filter((id) => known.current.has(id)));
  const sought = rows.findIndex(({ id }) => id === wanted.value?.id);
  const start = sought < 0 && first.value === undefined ? rows.length : sought;
  const rest = rows.flatMap(({ id }, at) => (ids.has(id) ? [] : [{ id, far: Math.abs(at - start) }]));
  for (const { id } of rest.sort((a, b) => a.far - b.far).slice(0, 1 + innerHeight / LEAST)) ids.add(id);
  known.current = ids;
  useEffect(() => {
    const next = async () => {
      await painted();
      await shown();
      goOn((times) => times + 1);
    };
    if (ids.size < rows.length) void next();
  });
  return ids;
}

const items = new WeakMap<MessageView, JSX.Element>();

/** Draws a row, or returns what was drawn of it before: two hundred of them would take longer than a frame. */
function drawn(props: MessageProps): JSX.Element {
  const known = items.get(props.row);
  const isSame = (["isFixed", "isLast", "isAnswer"] as const).every((name) => known?.props[name] === props[name]);
  if (known && isSame) return known;
  const item = <MessageItem key={props.row.id} {...props} />;
  items.set(props.row, item);
  return item;
}

// A conversation: its branches, the active path with summaries as stacks, and what can be done with it.
import type { JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { MadeSession, MessageView, NewConversation } from "../api";
import { call, CallError } from "../transport";
import { painted, shown } from "../shown";
import { filesOf, labelOf, loadProject, projectInfo } from "../project";
import { go } from "../route";
import { t } from "../language";
import { toast } from "../announce";
import { Button, IconButton } from "../ui/button";
import { Select } from "../ui/field";
import { Menu } from "../ui/menu";
import { Icon } from "../ui/icon";
import { Pager } from "../ui/paged";
import { answer, isAnswering } from "./answer";
import { CompressDialog } from "./compress-dialog";
import { Composer } from "./composer";
import { InsertedTexts } from "./inserted-texts";
import { LiveAnswer } from "./live-answer";
import { MessageItem } from "./message-item";
import { Tree } from "./tree";
import { first, isBusy, jump, load, take, talk, talkFailure, talkId, talkPath, wanted } from "./state";

/** How high a message is at least, in pixels: so many are drawn at once that they fill the window. */
const LEAST = 60;

/** So near to the end, in pixels, somebody sees it. */
const NEAR = 240;

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
      <div class="toolbar" role="toolbar" aria-label={t().pageNames.talk}>
        <Select
          label={t().conversation}
          isLabelHidden
          value={talkId.value ?? ""}
          options={[
            ...(talkId.value === undefined ? [{ value: "", label: t().none }] : []),
            ...filesOf("conversation").map((one) => ({ value: one.id, label: labelOf(one) })),
          ]}
          onChange={(id) => go("talk", id)}
          testId="talk-file"
        />
        <Menu
          label={texts.begin}
          icon="plus"
          isDisabled={projectInfo.value?.isReadOnly !== false}
          items={() => [
            { label: texts.beginNew, run: () => void make("conversations", {}) },
            { label: texts.copyToStore, isDisabled: !view, run: () => void make("conversations", { from: talkId.peek() }) },
          ]}
          testId="begin-talk"
        />
        <StepButton kind="undo" isFixed={isFixed} />
        <StepButton kind="redo" isFixed={isFixed} />
        <span class="gap" />
        <Button icon="layers" isDisabled={isFixed || !view} onClick={() => compress(true)} testId="compress">
          {texts.compress}
        </Button>
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
            <Button onClick={() => void make(talkPath("/session"))} testId="make-session">
              {texts.makeSession}
            </Button>
          )}
        </p>
      )}
      {talkId.value === undefined && <p class="empty">{texts.none}</p>}
      {view && <Tree isFixed={isFixed} />}
      {view && <Path isFixed={isFixed} />}
      <LiveAnswer />
      {view && isWritable && <Composer />}
      {isCompressing && view && <CompressDialog close={() => compress(false)} />}
    </section>
  );
}

/** Takes the latest step back, or does it again; its name is that of the step. */
function StepButton({ kind, isFixed }: { kind: "undo" | "redo"; isFixed: boolean }) {
  const [next] = talk.value?.[kind] ?? [];
  const label = next === undefined ? t()[kind] : t().labeled(t()[kind], next);
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
  const list = useRef<HTMLOListElement>(null);
  const view = talk.value;
  const ids = useParts(view?.rows ?? []);
  useEnd(list, `${talkId.value} ${view?.total} ${answer.value?.length}`);
  if (!view) return null;
  const to = view.from + view.rows.length;
  const textsBefore = (id: string | undefined) => {
    const texts = view.inserted?.filter(({ before }) => before === id) ?? [];
    return texts.length > 0 ? [<InsertedTexts key={`before ${id}`} texts={texts} />] : [];
  };
  return (
    <>
      {view.total > view.rows.length && (
        <Pager from={view.from} to={to} count={view.total} label={t().talk.path} jump={jump} />
      )}
      {view.total === 0 && <p class="empty soft">{t().talk.empty}</p>}
      <ol ref={list} class="path" aria-label={t().talk.path} data-test="path">
        {view.rows.flatMap((row) => [
          ...textsBefore(row.id),
          ids.has(row.id) ? drawn(row, isFixed) : <li key={row.id} class="message" />,
        ])}
        {textsBefore(undefined)}
      </ol>
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
function drawn(row: MessageView, isFixed: boolean): JSX.Element {
  const known = items.get(row);
  if (known?.props.isFixed === isFixed) return known;
  const item = <MessageItem key={row.id} row={row} isFixed={isFixed} />;
  items.set(row, item);
  return item;
}

/** Who sees the end goes on seeing it when more comes; who opens a conversation begins there. */
function useEnd(list: RefObject<HTMLOListElement | null>, stamp: string): void {
  const before = useRef("");
  useLayoutEffect(() => {
    const scroller = document.getElementById("page");
    if (!scroller || !list.current || first.peek() !== undefined || wanted.peek() !== undefined) return;
    const isNew = before.current !== talkId.peek();
    before.current = talkId.peek() ?? "";
    const left = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    if (isNew || left < NEAR) scroller.scrollTop = scroller.scrollHeight;
  }, [stamp]);
}

/** Makes a conversation, and shows it. */
async function make(path: string, body?: NewConversation): Promise<void> {
  try {
    const { id } = await call<MadeSession>("POST", path, { body });
    await loadProject();
    go("talk", id);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    toast(error.message || t().offline, "error", error.failure.help);
  }
}

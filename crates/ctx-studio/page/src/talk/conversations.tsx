// The list of conversations of the folder and the store, with search, renaming and deletion. The dialog of files asks
// for a conversation in a file.
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ProjectFile, SearchHit, SearchView } from "../api";
import { call, CallError } from "../transport";
import { filesOf, loadProject, projectInfo, titleOf } from "../project";
import { announce, toast } from "../announce";
import { askName } from "../file-list/actions";
import { go } from "../route";
import { inputs } from "../turn";
import { t } from "../language";
import { Button, IconButton } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { Field } from "../ui/field";
import { Icon } from "../ui/icon";
import { Menu } from "../ui/menu";
import { isAnswering } from "./answer";
import { moveDrafts } from "./drafts";
import { isFormatted, showFormatted } from "./formatted-text";
import { openTalk, pathOf, talkId } from "./state";

/** Pause in typing before a search, in milliseconds. */
const REST = 250;

/** A pending change of a conversation. */
interface Task {
  kind: "rename" | "delete";
  id: string;
}

/** The open list, if it is open. */
const list = signal<{ task?: Task } | undefined>(undefined);

/** Asks in the list for a stored conversation, and in the dialog of files for a file. */
function ask(kind: Task["kind"], one: ProjectFile, begin: (task: Task) => void): void {
  if (one.isStored) return begin({ kind, id: one.id });
  list.value = undefined;
  askName({ kind, file: one });
}

export function ConversationButton() {
  const current = filesOf("conversation").find(({ id }) => id === talkId.value);
  return (
    <>
      <Button
        class="conversation"
        label={t().labeled(t().conversation, current ? titleOf(current) : t().none)}
        onClick={() => (list.value = {})}
        testId="talk-file"
      >
        <span>{current ? titleOf(current) : t().none}</span>
        <Icon name="chevron-down" />
      </Button>
      {list.value && <ConversationDialog task={list.value.task} close={() => (list.value = undefined)} />}
    </>
  );
}

/** Commands for the whole conversation, and the format of its messages. */
export function TalkMenu() {
  const texts = t().talk;
  const current = filesOf("conversation").find(({ id }) => id === talkId.value);
  const isFixed = !current || projectInfo.value?.isReadOnly !== false || isAnswering.value;
  const begin = (kind: Task["kind"]) => current && ask(kind, current, (task) => (list.value = { task }));
  return (
    <Menu
      label={t().moreFor(current ? titleOf(current) : t().conversation)}
      icon="ellipsis"
      items={() => [
        { label: texts.showMarkdown, checked: isFormatted.peek(), testId: "markdown", run: () => showFormatted(!isFormatted.peek()) },
        { label: texts.rename, icon: "pencil", isFirstOfPart: true, isDisabled: isFixed, testId: "rename-talk", run: () => begin("rename") },
        { label: texts.deleteMore, icon: "trash-2", isDangerous: true, isDisabled: isFixed, testId: "delete-talk", run: () => begin("delete") },
      ]}
      testId="talk-menu"
    />
  );
}

/** Searches the messages; undefined until the response arrives. */
function useSearch(text: string): SearchView | undefined {
  const [found, show] = useState<SearchView | undefined>(undefined);
  useEffect(() => {
    let isGone = false;
    show(undefined);
    if (text.trim() === "") return;
    const timer = setTimeout(() => {
      call<SearchView>("GET", `search?text=${encodeURIComponent(text.trim())}`).then(
        (view) => !isGone && show(view),
        // Titles are searched without the server.
        () => !isGone && show({ hits: [], isCut: true }),
      );
    }, REST);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [text]);
  return found;
}

function ConversationDialog({ task: first, close }: { task?: Task; close: () => void }) {
  const [text, setText] = useState("");
  const [task, begin] = useState(first);
  const rows = useRef<HTMLUListElement>(null);
  const found = useSearch(text);
  const texts = t().talk;
  const wanted = text.trim().toLocaleLowerCase();
  const hits = new Map(found?.hits.map((hit) => [hit.conversation, hit]));
  const all = filesOf("conversation").filter((one) => titleOf(one).toLocaleLowerCase().includes(wanted) || hits.has(one.id));
  const isAlone = first !== undefined;
  const shown = isAlone ? all.filter(({ id }) => id === first.id) : all;
  const end = () => (isAlone ? close() : begin(undefined));
  const open = (id: string, hit?: SearchHit) => {
    close();
    openTalk(id, hit?.message);
  };
  /** Arrow keys move from the field to the list and through the list. */
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || task) return;
    const buttons = [...(rows.current?.querySelectorAll<HTMLElement>(".open") ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLElement) + step;
    event.preventDefault();
    if (at >= 0) buttons[Math.min(at, buttons.length - 1)]?.focus();
    else document.querySelector<HTMLElement>("[data-test=talk-search]")?.focus();
  };
  return (
    <Dialog title={isAlone ? texts[first.kind === "rename" ? "renameTitle" : "deleteTitle"] : texts.conversations} onClose={close} isWide={!isAlone}>
      <div class="conversations" onKeyDown={onKeyDown}>
        {!isAlone && (
          <Field label={t().search} placeholder={texts.searchHint} value={text} isAutofocused onInput={setText} testId="talk-search" />
        )}
        <ul ref={rows} aria-label={texts.conversations} data-test="conversations">
          {shown.map((one) => (
            <li key={one.id} class={one.id === talkId.value ? "active" : ""}>
              {task?.id !== one.id && <Row one={one} hit={hits.get(one.id)} open={open} begin={begin} />}
              {task?.id === one.id && task.kind === "rename" && <RenameForm one={one} close={end} />}
              {task?.id === one.id && task.kind === "delete" && <DeleteForm one={one} close={end} />}
            </li>
          ))}
        </ul>
        {shown.length === 0 && (wanted === "" || found) && <p class="soft">{texts.noConversations}</p>}
        {wanted !== "" && !found && <p class="soft">{t().loading}</p>}
        {found?.isCut && <p class="soft">{texts.searchIsCut}</p>}
      </div>
    </Dialog>
  );
}

function Row({
  one,
  hit,
  open,
  begin,
}: {
  one: ProjectFile;
  hit?: SearchHit;
  open: (id: string, hit?: SearchHit) => void;
  begin: (task: Task) => void;
}) {
  const texts = t().talk;
  const title = titleOf(one);
  const isFixed = projectInfo.value?.isReadOnly !== false;
  return (
    <>
      <button type="button" class="open" aria-current={one.id === talkId.value ? "true" : undefined} onClick={() => open(one.id, hit)}>
        <span class="title">{title}</span>
        {!one.isStored && <span class="badge">{texts.file}</span>}
        {hit && <small>{hit.excerpt}</small>}
      </button>
      {!isFixed && (
        <>
          <IconButton icon="pencil" label={texts.renameOne(title)} onClick={() => ask("rename", one, begin)} testId="rename" />
          <IconButton icon="trash-2" label={texts.deleteOne(title)} onClick={() => ask("delete", one, begin)} testId="delete" />
        </>
      )}
    </>
  );
}

/** Changes a stored conversation; returns whether it succeeded. */
async function change(one: ProjectFile, verb: "rename" | "delete", body: object): Promise<boolean> {
  try {
    await call("POST", pathOf(one.id, `/${verb}`), { body });
    return true;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    toast(error.message || t().offline, "error", error.failure.help);
    return false;
  }
}

function RenameForm({ one, close }: { one: ProjectFile; close: () => void }) {
  const [name, setName] = useState(titleOf(one));
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector("input")?.select(), []);
  const save = async () => {
    if (name.trim() !== "" && (await change(one, "rename", { name }))) {
      await loadProject();
      announce(t().talk.renamed(name));
      close();
    }
  };
  return (
    <form
      ref={form}
      class="row-form"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Field label={t().talk.title} value={name} onInput={setName} testId="talk-name" />
      <Button kind="main" isDisabled={name.trim() === ""} onClick={() => void save()} testId="save-name">
        {t().save}
      </Button>
      <Button kind="quiet" onClick={close}>
        {t().talk.cancel}
      </Button>
    </form>
  );
}

function DeleteForm({ one, close }: { one: ProjectFile; close: () => void }) {
  const form = useRef<HTMLDivElement>(null);
  const title = titleOf(one);
  const texts = t().talk;
  useEffect(() => form.current?.querySelector("button")?.focus(), []);
  const remove = async () => {
    if (!(await change(one, "delete", {}))) return;
    moveDrafts(one.id, "");
    // The next read of the folder no longer has it.
    if (inputs.peek().conversation === one.id) inputs.value = { ...inputs.peek(), conversation: undefined };
    if (talkId.peek() === one.id) go("talk", "", true);
    await loadProject();
    announce(texts.deletedOne(title));
    close();
  };
  return (
    <div ref={form} class="row-form">
      <p>{texts.deleteAsk(title)}</p>
      <Button kind="quiet" onClick={close}>
        {texts.cancel}
      </Button>
      <Button kind="danger" icon="trash-2" onClick={() => void remove()} testId="delete-now">
        {t().delete}
      </Button>
    </div>
  );
}

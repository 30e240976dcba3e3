// Creates conversations: with a greeting, empty, or as a copy.
import { useEffect, useState } from "preact/hooks";
import type { GreetingsRequest, GreetingsView, GreetingView, MadeSession, NewConversation } from "../api";
import { call, CallError } from "../transport";
import { agentId, loadProject, projectInfo } from "../project";
import { toast } from "../announce";
import { inputs } from "../turn";
import { t } from "../language";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { Menu } from "../ui/menu";
import { openTalk, talk, talkId } from "./state";

/** Makes a conversation, and shows it. */
export async function makeTalk(path: string, body?: NewConversation): Promise<void> {
  try {
    const { id } = await call<MadeSession>("POST", path, { body });
    await loadProject();
    openTalk(id);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    toast(error.message || t().offline, "error", error.failure.help);
  }
}

function greetsNow(): GreetingsRequest | undefined {
  const agent = agentId.peek();
  return agent === undefined ? undefined : { agent, profile: inputs.peek().profile };
}

const begin = (greeting = 0) => makeTalk("conversations", { greets: greetsNow(), greeting });
const isFixed = () => projectInfo.value?.isReadOnly !== false;

export function NewButton() {
  const [isChoosing, choose] = useState(false);
  const texts = t().talk;
  return (
    <span class="split">
      <Button icon="plus" label={texts.begin} isDisabled={isFixed()} onClick={() => void begin()} testId="new-talk">
        {texts.beginShort}
      </Button>
      <Menu
        label={texts.beginOther}
        icon="chevron-down"
        class="button plain"
        isDisabled={isFixed()}
        items={() => [
          { label: texts.chooseGreeting, icon: "message-square", isDisabled: !greetsNow(), testId: "choose-greeting", run: () => choose(true) },
          { label: texts.beginWithout, icon: "plus", testId: "begin-without", run: () => void makeTalk("conversations", {}) },
          {
            label: texts.copyToStore,
            icon: "copy",
            isDisabled: !talk.peek(),
            testId: "copy-talk",
            run: () => void makeTalk("conversations", { from: talkId.peek() }),
          },
        ]}
        testId="begin-talk"
      />
      {isChoosing && <GreetingDialog close={() => choose(false)} />}
    </span>
  );
}

/** The greetings of the agent, each with its text. */
function GreetingDialog({ close }: { close: () => void }) {
  const [greetings, show] = useState<GreetingView[] | undefined>(undefined);
  const [failure, fail] = useState<string | undefined>(undefined);
  const texts = t().talk;
  useEffect(() => {
    let isGone = false;
    call<GreetingsView>("POST", "greetings", { body: greetsNow() }).then(
      (view) => !isGone && show(view.greetings),
      (error) => !isGone && fail(error instanceof CallError ? error.message || t().offline : String(error)),
    );
    return () => {
      isGone = true;
    };
  }, []);
  const choose = (at: number) => {
    close();
    void begin(at);
  };
  return (
    <Dialog title={texts.greetings} onClose={close} isWide>
      {failure && <p class="wrong">{failure}</p>}
      {!failure && !greetings && <p class="soft">{t().loading}</p>}
      {greetings?.length === 0 && <p class="soft">{texts.noGreetings}</p>}
      <ol class="greetings" data-test="greetings">
        {greetings?.map(({ title, head }, at) => (
          <li key={at}>
            <button type="button" class="card" onClick={() => choose(at)}>
              <b>{texts.greetingOf(at + 1, greetings.length)}</b>
              {!head.startsWith(title) && <span>{title}</span>}
              <small>{head}</small>
            </button>
          </li>
        ))}
      </ol>
    </Dialog>
  );
}

/** Shown if there is no conversation. */
export function NoTalk() {
  const texts = t().talk;
  return (
    <div class="empty">
      <p>{texts.none}</p>
      <Button icon="plus" kind="main" isDisabled={isFixed()} onClick={() => void begin()}>
        {texts.begin}
      </Button>
    </div>
  );
}

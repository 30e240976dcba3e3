// The first messages that a conversation can start with; the first one is the default.
import { useRef } from "preact/hooks";
import { announce } from "../announce";
import { get } from "../pointer";
import { Keys } from "../preset/entries";
import { t } from "../language";
import { Button, IconButton } from "../ui/button";
import { Field } from "../ui/field";
import { change } from "./edits";
import type { FormProps } from "./agent-page";

const nameOf = (at: number) => (at === 0 ? t().agentForm.firstMessage : t().agentForm.alternate(at));

export function Greetings({ file, value, base }: FormProps) {
  const list = useRef<HTMLOListElement>(null);
  const pointer = `${base}/greetings`;
  const found = get(value, pointer);
  const all: unknown[] = Array.isArray(found) ? found : [];
  // The focus stays in a greeting that another window moves.
  const keys = useRef(new Keys());
  const isFixed = file.isReadOnly.value;
  const focus = (at: number) =>
    requestAnimationFrame(() => list.current?.querySelectorAll<HTMLElement>("li textarea")[at]?.focus());
  const add = () => {
    if (all.length === 0) file.edit({ op: "set", pointer, value: [{ content: "" }] });
    else file.edit({ op: "insert", pointer: `${pointer}/-`, value: { content: "" } });
    focus(all.length);
  };
  const move = (at: number, to: number) => {
    const button = document.activeElement as HTMLButtonElement | null;
    requestAnimationFrame(() => {
      const other = button?.parentElement?.querySelector<HTMLElement>("button:enabled");
      (button?.disabled ? other : button)?.focus();
    });
    file.edit({ op: "move", pointer: `${pointer}/${at}`, to: `${pointer}/${to}` });
    announce(t().agentForm.greetingMoved(nameOf(to)));
  };
  const remove = (at: number) => {
    file.edit({ op: "remove", pointer: all.length === 1 ? pointer : `${pointer}/${at}` });
    announce(t().deleted(1));
    focus(Math.max(0, at - 1));
  };
  return (
    <section aria-labelledby="agent-greetings">
      <h2 id="agent-greetings">{t().agentForm.greetings}</h2>
      <p class="soft">{all.length === 0 ? t().agentForm.noGreetings : t().agentForm.greetingsHelp}</p>
      <ol class="greetings" ref={list}>
        {keys.current.of(all, pointer).map(({ key, index: at, value: own }) => {
          const content = own["content"];
          const name = typeof own["name"] === "string" ? own["name"] : "";
          return (
            <li key={key} data-test="greeting">
              <div class="line">
                <b>{nameOf(at)}</b>
                <Field
                  label={t().agentForm.greetingTitle}
                  isLabelHidden
                  placeholder={t().agentForm.greetingTitle}
                  value={name}
                  isDisabled={isFixed}
                  onInput={(next) => change(file, `${pointer}/${at}`, ["name"], next || undefined)}
                />
                <span class="gap" />
                <IconButton
                  icon="arrow-up"
                  label={t().labeled(nameOf(at), t().moveUp)}
                  isDisabled={isFixed || at === 0}
                  onClick={() => move(at, at - 1)}
                />
                <IconButton
                  icon="arrow-down"
                  label={t().labeled(nameOf(at), t().moveDown)}
                  isDisabled={isFixed || at === all.length - 1}
                  onClick={() => move(at, at + 1)}
                />
                <IconButton
                  icon="trash-2"
                  label={t().labeled(nameOf(at), t().delete)}
                  isDisabled={isFixed}
                  onClick={() => remove(at)}
                />
              </div>
              {content === undefined || typeof content === "string" ? (
                <Field
                  size="wide"
                  label={t().agentForm.textOf(nameOf(at))}
                  isLabelHidden
                  value={content ?? ""}
                  rows={3}
                  isDisabled={isFixed}
                  onInput={(next) => change(file, `${pointer}/${at}`, ["content"], next)}
                />
              ) : (
                <p class="soft">{t().agentForm.partsHelp}</p>
              )}
            </li>
          );
        })}
      </ol>
      <Button icon="plus" isDisabled={isFixed} onClick={add} testId="add-greeting">
        {t().agentForm.addGreeting}
      </Button>
    </section>
  );
}

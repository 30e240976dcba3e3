// The header of a group: its switch, its name, and whether one or many of its entries are on.
import { useState } from "preact/hooks";
import { join } from "../pointer";
import { t } from "../language";
import { Switch } from "../ui/button";
import { Icon } from "../ui/icon";
import { Menu } from "../ui/menu";
import { Dialog } from "../ui/dialog";
import { Field } from "../ui/field";
import { Button } from "../ui/button";
import { putIntoGroup } from "./commands";
import { manyItems } from "./entry-menu";
import { fold, folded } from "./folds";
import type { Preset } from "./actions";
import type { Group } from "./entries";

export function GroupHeader({
  of,
  group,
  isContinued,
  isInside,
  isHidden,
  count,
}: {
  of: Preset;
  group: Group;
  isContinued: boolean;
  /** Whether it is below a heading. */
  isInside: boolean;
  isHidden: boolean;
  count: number;
}) {
  const [isNaming, setNaming] = useState(false);
  const { file } = of;
  const isFolded = folded.value.has(group.id);
  const isFixed = file.isReadOnly.value;
  const turnTo = (isOn: boolean) => {
    const pointer = join(group.pointer, "enabled");
    file.edit(isOn ? { op: "remove", pointer } : { op: "set", pointer, value: false });
  };
  const dissolve = () => {
    putIntoGroup(
      of,
      of.entries.filter(({ value }) => value["groupId"] === group.id),
      undefined,
    );
    file.edit({ op: "remove", pointer: group.pointer });
  };
  return (
    <li class={`group ${group.isEnabled ? "" : "off"} ${isInside ? "inside" : ""}`} hidden={isHidden}>
      <Switch isOn={group.isEnabled} label={t().switchGroup(group.name)} isDisabled={isFixed} onChange={turnTo} />
      <button
        type="button"
        class="group-name"
        data-part="group"
        aria-expanded={!isFolded}
        onClick={() => fold([group.id], !isFolded)}
      >
        <Icon name={isFolded ? "chevron-right" : "chevron-down"} />
        <b>{group.name}</b>
        {isContinued && <span class="soft">{t().continued}</span>}
        <span class="badge">{group.isRadio ? t().oneOf(count) : t().entries(count)}</span>
      </button>
      <Menu
        label={t().moreFor(group.name)}
        icon="ellipsis"
        isDisabled={isFixed}
        items={() => [
          { label: t().rename, icon: "pencil", run: () => setNaming(true) },
          {
            label: t().manyOn,
            checked: !group.isRadio,
            isFirstOfPart: true,
            run: () => file.edit({ op: "set", pointer: join(group.pointer, "selectionMode"), value: "checkbox" }),
          },
          {
            label: t().oneOn,
            checked: group.isRadio,
            run: () => file.edit({ op: "set", pointer: join(group.pointer, "selectionMode"), value: "radio" }),
          },
          ...manyItems((now) => now.entries.filter(({ value }) => value["groupId"] === group.id), isFixed),
          { label: t().dissolve, icon: "trash-2", isFirstOfPart: true, isDangerous: true, run: dissolve },
        ]}
      />
      {isNaming && (
        <Naming
          name={group.name}
          close={() => setNaming(false)}
          set={(name) => file.edit({ op: "set", pointer: join(group.pointer, "name"), value: name })}
        />
      )}
    </li>
  );
}

function Naming({ name, set, close }: { name: string; set: (name: string) => void; close: () => void }) {
  const [text, setText] = useState(name);
  const done = () => {
    if (text.trim() !== "" && text !== name) set(text.trim());
    close();
  };
  return (
    <Dialog
      title={t().rename}
      onClose={close}
      actions={
        <Button kind="main" onClick={done}>
          {t().rename}
        </Button>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          done();
        }}
      >
        <Field label={t().name} value={text} onInput={setText} isAutofocused size="wide" />
      </form>
    </Dialog>
  );
}

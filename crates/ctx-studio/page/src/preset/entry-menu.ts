// The commands of one entry.
import { t } from "../language";
import type { MenuItem } from "../ui/menu";
import { canGroup, type Preset } from "./actions";
import { choose } from "./choose";
import { addMessage, duplicate, putIntoGroup, remove, step, switchAll } from "./commands";
import type { Entry, Group } from "./entries";
import { sectionOf } from "./headings";
import { preset } from "./state";

/** Commands need the preset as it is when they are given. */
export const act = (run: (now: Preset) => void) => () => {
  const now = preset.peek();
  if (now) run(now);
};

export function entryMenu(
  entry: Entry,
  group: Group | undefined,
  isHeading: boolean,
  count: number,
  isFixed: boolean,
  setDialog: (dialog: "move" | "anchor") => void,
): MenuItem[] {
  const now = preset.peek();
  const groups = now && canGroup(now) ? now.groups : [];
  return [
    { label: t().addBelow, icon: "plus", isDisabled: isFixed, run: act((now) => addMessage(now, entry)) },
    { label: t().addAnchorBelow, icon: "anchor", isDisabled: isFixed, run: () => setDialog("anchor") },
    { label: t().duplicate, icon: "copy", isDisabled: isFixed, run: act((now) => duplicate(now, [entry])) },
    {
      label: t().moveUp,
      icon: "arrow-up",
      keys: "Alt+↑",
      isFirstOfPart: true,
      isDisabled: isFixed || entry.index === 0,
      run: act((now) => step(now, entry, -1, "menu")),
    },
    {
      label: t().moveDown,
      icon: "arrow-down",
      keys: "Alt+↓",
      isDisabled: isFixed || entry.index === count - 1,
      run: act((now) => step(now, entry, 1, "menu")),
    },
    { label: t().moveTo, icon: "move", isDisabled: isFixed || count < 2, run: () => setDialog("move") },
    ...groups.map(({ id, name }, index): MenuItem => ({
      label: t().inGroup(name),
      checked: group?.id === id,
      isFirstOfPart: index === 0,
      isDisabled: isFixed,
      run: act((now) => putIntoGroup(now, [entry], group?.id === id ? undefined : id)),
    })),
    ...(isHeading ? manyItems((now) => sectionOf(now.entries, entry), isFixed) : []),
    {
      label: t().delete,
      icon: "trash-2",
      isFirstOfPart: true,
      isDangerous: true,
      isDisabled: isFixed,
      run: act((now) => remove(now, [entry])),
    },
  ];
}

/** Commands for all entries of a section or a group. */
export function manyItems(entriesOf: (now: Preset) => Entry[], isFixed: boolean): MenuItem[] {
  return [
    {
      label: t().preset.enableAll,
      icon: "power",
      isFirstOfPart: true,
      isDisabled: isFixed,
      run: act((now) => switchAll(now, entriesOf(now), true)),
    },
    {
      label: t().preset.disableAll,
      icon: "power",
      isDisabled: isFixed,
      run: act((now) => switchAll(now, entriesOf(now), false)),
    },
    {
      label: t().preset.selectAll,
      icon: "list-checks",
      run: act((now) => choose(entriesOf(now).map(({ key }) => key))),
    },
  ];
}

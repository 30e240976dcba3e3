// What can be done with several entries at once.
import { useState } from "preact/hooks";
import { t } from "../language";
import { Button } from "../ui/button";
import { Menu } from "../ui/menu";
import { duplicate, putIntoGroup, remove, switchAll } from "./commands";
import { MoveDialog } from "./move-dialog";
import { NewGroup } from "./new-group";
import { canGroup, type Preset } from "./actions";
import { choose, endChoice } from "./choose";
import { shownEntries } from "./list-view";
import { chosenEntries, isSelecting } from "./state";

export function Selection({ of }: { of: Preset }) {
  const [dialog, setDialog] = useState<"move" | "group" | undefined>(undefined);
  if (!isSelecting.value) return null;
  const chosen = chosenEntries(of);
  const shown = new Set(shownEntries.value);
  const unseen = chosen.filter((entry) => !shown.has(entry)).length;
  const isNothing = chosen.length === 0 || of.file.isReadOnly.value;
  return (
    <div class="selection" role="toolbar" aria-label={t().selection}>
      <b role="status">
        {t().chosen(chosen.length)}
        {unseen > 0 && <span class="soft"> {t().preset.unseen(unseen)}</span>}
      </b>
      <Button kind="quiet" onClick={() => choose(shownEntries.value.map(({ key }) => key))}>
        {t().all}
      </Button>
      <Button isDisabled={isNothing} onClick={() => switchAll(of, chosen, true)}>
        {t().on}
      </Button>
      <Button isDisabled={isNothing} onClick={() => switchAll(of, chosen, false)}>
        {t().off}
      </Button>
      <Button isDisabled={isNothing} icon="move" onClick={() => setDialog("move")}>
        {t().moveTo}
      </Button>
      {canGroup(of) && (
        <Menu
          label={t().group}
          icon="layers"
          isDisabled={isNothing}
          items={() => [
            { label: t().newGroup, icon: "plus", run: () => setDialog("group") },
            ...of.groups.map(({ id, name }) => ({
              label: name,
              icon: "layers",
              run: () => putIntoGroup(of, chosen, id),
            })),
            { label: t().noGroup, icon: "x", isFirstOfPart: true, run: () => putIntoGroup(of, chosen, undefined) },
          ]}
        >
          {t().group}
        </Menu>
      )}
      <Button isDisabled={isNothing} icon="copy" onClick={() => duplicate(of, chosen)}>
        {t().duplicate}
      </Button>
      <Button isDisabled={isNothing} icon="trash-2" kind="danger" onClick={() => remove(of, chosen)}>
        {t().delete}
      </Button>
      <Button kind="quiet" onClick={endChoice}>
        {t().done}
      </Button>
      {dialog === "move" && <MoveDialog of={of} chosen={chosen} close={() => setDialog(undefined)} />}
      {dialog === "group" && <NewGroup of={of} chosen={chosen} close={() => setDialog(undefined)} />}
    </div>
  );
}

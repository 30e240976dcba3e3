// Above the list: how it is shown, and what can be added.
import { useState } from "preact/hooks";
import type { OpenFile } from "../files";
import { t } from "../language";
import { Button } from "../ui/button";
import { AddAnchor } from "./add-anchor";
import { NewGroup } from "./new-group";
import { addMessage } from "./commands";
import { canGroup, type Preset } from "./actions";
import { endChoice } from "./choose";
import { isSelecting, textSearches, view, type View } from "./state";

const VIEWS: View[] = ["list", "placed", "text"];

export function Toolbar({ file, of }: { file: OpenFile; of: Preset | undefined }) {
  const [dialog, setDialog] = useState<"anchor" | "group" | undefined>(undefined);
  const isFixed = file.isReadOnly.value;
  return (
    <div class="toolbar" role="toolbar" aria-label={t().pageNames.preset}>
      <span class="choice" role="group" aria-label={t().viewAs}>
        {VIEWS.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={view.value === name}
            onClick={() => (view.value = name)}
            data-test={`view-${name}`}
          >
            {t().views[name]}
          </button>
        ))}
      </span>
      <span class="gap" />
      {of && view.value === "list" && (
        <>
          <Button
            icon="plus"
            isDisabled={isFixed}
            onClick={() => addMessage(of)}
            testId="add-entry"
            label={t().addEntry}
          >
            {t().entry}
          </Button>
          <Button
            icon="anchor"
            isDisabled={isFixed}
            onClick={() => setDialog("anchor")}
            testId="add-anchor"
            label={t().addAnchor}
          >
            {t().anchor}
          </Button>
          {canGroup(of) && (
            <Button
              icon="layers"
              isDisabled={isFixed}
              onClick={() => setDialog("group")}
              testId="add-group"
              label={t().newGroup}
            >
              {t().group}
            </Button>
          )}
          <Button
            icon="list-checks"
            pressed={isSelecting.value}
            testId="select"
            onClick={() => (isSelecting.value ? endChoice() : (isSelecting.value = true))}
          >
            {t().select}
          </Button>
        </>
      )}
      {view.value === "text" && (
        <Button icon="search" keys="Control+F" onClick={() => textSearches.value++} testId="find">
          {t().preset.find}
        </Button>
      )}
      {of && dialog === "anchor" && <AddAnchor of={of} close={() => setDialog(undefined)} />}
      {of && dialog === "group" && <NewGroup of={of} chosen={[]} close={() => setDialog(undefined)} />}
    </div>
  );
}

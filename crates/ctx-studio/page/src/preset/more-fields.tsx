// What few entries need: the id, the group, the models, what it comes with.
import { isObject, join } from "../pointer";
import { t } from "../language";
import { Check, Field, Select } from "../ui/field";
import { putIntoGroup } from "./commands";
import { anchorType, textField, type Entry } from "./entries";
import { canGroup, type Preset } from "./actions";

export function MoreFields({ of, entry }: { of: Preset; entry: Entry }) {
  const { file } = of;
  const isFixed = file.isReadOnly.value;
  const match = isObject(entry.value["modelMatch"]) ? entry.value["modelMatch"] : undefined;
  const patterns = Array.isArray(match?.["patterns"]) ? match["patterns"].join("\n") : "";
  const triggers = Array.isArray(entry.value["triggers"]) ? entry.value["triggers"].join(", ") : "";
  const files = [entry.value["presetAttachments"], entry.value["attachments"]].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  const pointer = join(entry.pointer, "modelMatch");
  const setMatch = (change: Record<string, unknown>) => {
    if (!match) file.edit({ op: "set", pointer, value: { enabled: true, patterns: [], ...change } });
    else
      file.edit(
        ...Object.entries(change).map(([name, value]) => ({ op: "set" as const, pointer: join(pointer, name), value })),
      );
  };
  return (
    <details class="more">
      <summary>{t().more}</summary>
      <div class="fields">
        <Field
          label={anchorType(entry) === "placeholder" ? t().nameOfPlace : t().id}
          value={textField(entry, "id")}
          isLazy
          isDisabled={isFixed}
          onInput={(id) =>
            file.edit(
              id === ""
                ? { op: "remove", pointer: join(entry.pointer, "id") }
                : { op: "set", pointer: join(entry.pointer, "id"), value: id },
            )
          }
        />
        {canGroup(of) && (
          <Select
            label={t().group}
            value={textField(entry, "groupId")}
            isDisabled={isFixed}
            options={[
              { value: "", label: t().noGroup },
              ...of.groups.map(({ id, name }) => ({ value: id, label: name })),
            ]}
            onChange={(id) => putIntoGroup(of, [entry], id === "" ? undefined : id)}
          />
        )}
      </div>
      {anchorType(entry) !== "chat_history" && (
        <fieldset>
          <legend>{t().modelMatch}</legend>
          <Check
            label={t().modelMatchOn}
            isChecked={match !== undefined && match["enabled"] === true}
            isDisabled={isFixed}
            onChange={(enabled) => setMatch({ enabled })}
          />
          {match && (
            <>
              <label class="field wide">
                <span class="label">{t().patterns}</span>
                <textarea
                  rows={2}
                  value={patterns}
                  disabled={isFixed}
                  spellcheck={false}
                  onChange={(event) =>
                    setMatch({ patterns: event.currentTarget.value.split("\n").filter((line) => line.trim() !== "") })
                  }
                />
              </label>
              <Check
                label={t().exclude}
                isChecked={match["exclude"] === true}
                isDisabled={isFixed}
                onChange={(exclude) => setMatch({ exclude })}
              />
            </>
          )}
        </fieldset>
      )}
      {triggers && (
        <p>
          <span class="soft">{t().triggers}</span> {triggers}
        </p>
      )}
      {files.length > 0 && (
        <div>
          <span class="soft">{t().attachments}</span>
          <ul>
            {files.map((one, index) => (
              <li key={index}>
                {isObject(one) ? String(one["name"] ?? one["path"] ?? one["url"] ?? one["id"] ?? "?") : String(one)}
              </li>
            ))}
          </ul>
        </div>
      )}
    </details>
  );
}

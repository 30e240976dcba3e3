// One setting as a form has it: made of its description alone, so that whoever describes one gets a form.
import { useEffect, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { ConfigField } from "../api";
import { t } from "../language";
import { Field, Select, useId } from "./field";

interface InputProps {
  field: ConfigField;
  value: unknown;
  onChange: (next: unknown) => void;
  isDisabled?: boolean;
  /** Next to the control: the layer that sets the value. */
  children?: ComponentChildren;
}
interface ControlProps extends InputProps {
  id: string;
  /** The id of its help. */
  describedBy?: string;
}

/** The label and the help of a setting, and its control. */
export function ConfigInput(props: InputProps) {
  const { field, children } = props;
  const id = useId();
  const helpId = `${id}-help`;
  return (
    <div class={`setting of-${field.type} ${isLarge(props) ? "large" : ""}`} data-field={field.key}>
      <div class="about">
        <label for={id}>{withCode(field.label)}</label>
        {field.description && (
          <small id={helpId} class="soft">
            {withCode(field.description)}
          </small>
        )}
      </div>
      <div class="control">
        <Control {...props} id={id} describedBy={field.description ? helpId : undefined} />
        {children}
      </div>
    </div>
  );
}

/** A text of a descriptor: a sentence with code between backticks. */
export function withCode(text: string): ComponentChildren {
  const parts = text.replace(/^[a-z]/, (letter) => letter.toUpperCase()).split("`");
  return parts.map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part));
}

function Control(props: ControlProps) {
  const { field, value, onChange, isDisabled, id, describedBy } = props;
  switch (field.type) {
    case "boolean":
      return (
        <span class="check">
          <input
            type="checkbox"
            id={id}
            checked={value === true}
            disabled={isDisabled}
            aria-describedby={describedBy}
            onChange={(event) => onChange(event.currentTarget.checked)}
          />
        </span>
      );
    case "select": {
      // The values may be of any type; their places are texts.
      const options = field.options ?? [];
      const same = (one: unknown) => JSON.stringify(one) === JSON.stringify(value);
      const at = options.findIndex((option) => same(option.value));
      return (
        <Select
          id={id}
          describedBy={describedBy}
          label={field.label}
          value={at >= 0 ? String(at) : JSON.stringify(value)}
          options={options.map(({ label }, index) => ({ value: String(index), label }))}
          isDisabled={isDisabled}
          onChange={(next) => onChange(options[Number(next)]?.value)}
        />
      );
    }
    case "number":
      return (
        <Checked
          {...props}
          shown={value === undefined || value === null ? "" : String(value)}
          read={(text) => numberOf(field, text)}
        />
      );
    case "list":
      return <Lines {...props} />;
    case "text":
      return isLarge(props) ? (
        <Lines {...props} />
      ) : (
        <Checked {...props} shown={shownText(value)} read={(text) => textOf(field, textIn(text))} />
      );
  }
}

type Read = { value: unknown } | { wrong: string };

/** A field of one line; what it does not take stays in it, and is told. */
function Checked({
  field,
  id,
  describedBy,
  shown,
  isDisabled,
  read,
  onChange,
}: ControlProps & {
  shown: string;
  read: (text: string) => Read;
}) {
  const [refused, refuse] = useState<{ text: string; why: string } | undefined>(undefined);
  useEffect(() => refuse(undefined), [shown]);
  return (
    <>
      <Field
        id={id}
        describedBy={refused ? wrongId(id) : describedBy}
        label={field.label}
        value={refused?.text ?? shown}
        placeholder={field.placeholder}
        isLazy
        size={field.type === "number" ? "short" : "normal"}
        inputMode={field.type === "number" ? "numeric" : "text"}
        isDisabled={isDisabled}
        isInvalid={refused !== undefined}
        onInput={(text) => {
          const got = read(text);
          if ("wrong" in got) return refuse({ text, why: got.wrong });
          refuse(undefined);
          onChange(got.value);
        }}
      />
      <Wrong id={id} text={refused?.why} />
    </>
  );
}

/** A text of several lines, or a list. */
function Lines({ field, value, onChange, isDisabled, id, describedBy }: ControlProps) {
  const isList = field.type === "list";
  const shown = isList ? shownList(value) : String(value ?? "");
  const [wrong, tell] = useState<string | undefined>(undefined);
  const [text, setText] = useState(shown);
  useEffect(() => {
    setText(shown);
    tell(undefined);
  }, [shown]);
  const leave = (next: string) => {
    const got = isList ? listOf(next) : textOf(field, next);
    if ("wrong" in got) return tell(got.wrong);
    tell(undefined);
    if (next !== shown) onChange(got.value);
  };
  return (
    <>
      <span class="field wide">
        <textarea
          id={id}
          rows={Math.min(12, Math.max(2, text.split("\n").length))}
          value={text}
          disabled={isDisabled}
          spellcheck={false}
          aria-invalid={wrong ? "true" : undefined}
          aria-describedby={wrong ? wrongId(id) : describedBy}
          onInput={(event) => setText(event.currentTarget.value)}
          onBlur={(event) => leave(event.currentTarget.value)}
        />
      </span>
      <Wrong id={id} text={wrong} />
    </>
  );
}

const wrongId = (id: string) => `${id}-wrong`;

/** The reason why a value is invalid. */
function Wrong({ id, text }: { id: string; text: string | undefined }) {
  return text ? (
    <small id={wrongId(id)} class="wrong">
      {text}
    </small>
  ) : null;
}

function numberOf({ minimum, maximum, isWhole }: ConfigField, text: string): Read {
  const number = Number(text.trim());
  const isNumber = text.trim() !== "" && Number.isFinite(number) && !(isWhole && !Number.isInteger(number));
  const isInside = (minimum === undefined || number >= minimum) && (maximum === undefined || number <= maximum);
  if (isNumber && isInside) return { value: number };
  return { wrong: t().form.number(isWhole === true, minimum, maximum) };
}

function textOf({ isRequired }: ConfigField, text: string): Read {
  return isRequired && text.trim() === "" ? { wrong: t().form.required } : { value: text };
}

/** Short texts, one per line; any other list is JSON. */
function shownList(value: unknown): string {
  const list = Array.isArray(value) ? value : [];
  const isShort = (one: unknown) => typeof one === "string" && /^[^[\s](.*\S)?$/.test(one);
  return list.every(isShort) ? list.join("\n") : JSON.stringify(list, null, 2);
}

function listOf(text: string): Read {
  const lines = text.split("\n").map((line) => line.trim());
  if (!text.trim().startsWith("[")) return { value: lines.filter((line) => line !== "") };
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? { value } : { wrong: t().form.list };
  } catch {
    return { wrong: t().form.list };
  }
}

/** Whether the control needs the whole width. */
function isLarge({ field, value }: InputProps): boolean {
  const isLong = (one: unknown) => typeof one === "string" && one.length > 80;
  return field.type === "list" || (field.type === "text" && (isLong(value) || isLong(field.default)));
}

/** A short text may be a separator, whose line ends would not be seen in one line. */
function shownText(value: unknown): string {
  return String(value ?? "")
    .replaceAll("\\", "\\\\")
    .replaceAll("\n", "\\n")
    .replaceAll("\t", "\\t");
}

function textIn(shown: string): string {
  return shown.replace(/\\([\\nt])/g, (_, letter: string) => ({ n: "\n", t: "\t" })[letter] ?? "\\");
}

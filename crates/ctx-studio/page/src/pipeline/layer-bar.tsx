// In which file changes are saved: one choice of the layers.
import type { Origin } from "../api";
import { filesOf, projectInfo } from "../project";
import { inputs } from "../turn";
import { t } from "../language";
import { Button } from "../ui/button";
import { Select, type Option } from "../ui/field";
import { Icon } from "../ui/icon";
import { layer } from "./layer";
import { pipeline } from "./state";

/** Stands before the id of a file with the settings of a model. */
const MODEL = "model/";

export function LayerSelect({ hasModels }: { hasModels: boolean }) {
  const { saveIn, layers, noFile } = t().pipeline;
  const layerOption = (origin: "agent" | "user"): Option => {
    const path = pathOf(origin);
    return { value: origin, label: t().labeled(layers[origin], path ?? noFile[origin]), isDisabled: path === undefined };
  };
  const models = hasModels ? filesOf("settings") : [];
  return (
    <Select
      label={saveIn}
      value={layer.value === "model" ? `${MODEL}${inputs.value.modelSettings}` : layer.value}
      options={[
        layerOption("agent"),
        ...models.map(({ id, path }) => ({ value: `${MODEL}${id}`, label: t().labeled(layers.model, path) })),
        layerOption("user"),
      ]}
      onChange={(next) => {
        const modelSettings = next.startsWith(MODEL) ? next.slice(MODEL.length) : undefined;
        if (modelSettings) inputs.value = { ...inputs.value, modelSettings };
        layer.value = modelSettings ? "model" : (next as Origin);
      }}
      size="layer"
      testId="layer"
    />
  );
}

/** The settings of a model apply until they are taken away, whichever layer is edited. */
export function ModelNote() {
  const id = inputs.value.modelSettings;
  const path = projectInfo.value?.files.find((one) => one.id === id)?.path;
  if (!id || !path) return null;
  return (
    <p class="applied soft" data-test="model-applies">
      <Icon name="info" />
      <span>{t().pipeline.applies(path)}</span>
      <Button
        class="small"
        testId="model-off"
        onClick={() => {
          inputs.value = { ...inputs.value, modelSettings: undefined };
          if (layer.value === "model") layer.value = "agent";
        }}
      >
        {t().pipeline.stopApplying}
      </Button>
    </p>
  );
}

function pathOf(origin: Origin): string | undefined {
  const id = pipeline.value?.layers.find((one) => one.origin === origin)?.file;
  return projectInfo.value?.files.find((one) => one.id === id)?.path;
}

import { scriptedModel } from "../../openai-model.mjs";

export const model = scriptedModel([]);

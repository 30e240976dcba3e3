import { ScriptedModel } from "../../langchain-model.mjs";

export const model = new ScriptedModel({});

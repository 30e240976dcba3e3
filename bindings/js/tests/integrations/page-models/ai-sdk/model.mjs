import { MockLanguageModelV3 } from "ai/test";

import { scripted } from "../../ai-sdk-suite.mjs";

export const model = scripted(MockLanguageModelV3, []);

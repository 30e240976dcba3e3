import * as ai from "ai";
import { MockLanguageModelV3 } from "ai/test";

import { defineTests } from "./ai-sdk-suite.mjs";

defineTests("ai 6", ai, MockLanguageModelV3);

// Errors, disconnects, conversations and other API dialects, with the clients of npm.

import assert from 'node:assert/strict';
import { LIBRARIES, anthropicClient, googleClient, openaiClient } from './libraries.mjs';
import { REFUSAL, WORDS } from './provider.mjs';

const TEXT = WORDS.join('');
const user = (content) => [{ role: 'user', content }];

/// The checks by name. `requests()` lists what the provider got; `waited()` counts requests whose client has left.
async function checks({ base, models, requests, waited }) {
  const openai = await openaiClient({ base });
  const anthropic = await anthropicClient({ base });
  const google = await googleClient({ base });
  const { OpenAI, Anthropic } = { OpenAI: openai.constructor, Anthropic: anthropic.constructor };
  const chat = (content, more, options) =>
    openai.chat.completions.create({ model: models.chat, messages: user(content), ...more }, options);
  const left = async (before) => {
    while (waited() === before) await new Promise((resolve) => setImmediate(resolve));
  };
  const found = {
    'lists models': async () => {
      const listed = [];
      for await (const model of openai.models.list()) listed.push(model.id);
      for (const name of ['chat', 'gemini', 'messages', 'responses']) assert.ok(listed.includes(name), listed.join());
    },
    'complete replies': async () => {
      assert.equal((await chat('Hi')).choices[0].message.content, TEXT);
      assert.equal((await openai.responses.create({ model: models.responses, input: 'Hi' })).output_text, TEXT);
      const message = await anthropic.messages.create({ model: models.messages, max_tokens: 50, messages: user('Hi') });
      assert.deepEqual([message.content[0].text, message.stop_reason], [TEXT, 'end_turn']);
      const content = await google.models.generateContent({ model: models.gemini, contents: 'Hi' });
      assert.deepEqual([content.text, content.usageMetadata.totalTokenCount], [TEXT, 13]);
    },
    'a stream without usage has none': async () => {
      for await (const chunk of await chat('Hi', { stream: true })) assert.equal(chunk.choices.length, 1);
    },
    'errors of the provider': async () => {
      const refused = (error) => error instanceof OpenAI.BadRequestError && error.message.includes(REFUSAL);
      await assert.rejects(chat('[refuse]'), refused);
      await assert.rejects(openai.responses.create({ model: models.responses, input: '[refuse]' }), refused);
      const message = anthropic.messages.create({ model: models.messages, max_tokens: 50, messages: user('[refuse]') });
      await assert.rejects(message, Anthropic.BadRequestError);
      await assert.rejects(
        google.models.generateContent({ model: models.gemini, contents: '[refuse]' }),
        new RegExp(REFUSAL),
      );
    },
    'unknown models': async () => {
      await assert.rejects(chat('Hi', { model: 'bob' }), OpenAI.NotFoundError);
      const message = anthropic.messages.create({ model: 'bob', max_tokens: 50, messages: user('Hi') });
      await assert.rejects(message, Anthropic.NotFoundError);
    },
    'a client that leaves a stream': async () => {
      const before = waited();
      const stream = await chat('[wait]', { stream: true });
      for await (const chunk of stream) if (chunk.choices[0]) break;
      stream.controller.abort();
      await left(before);
    },
    'a client with a time limit': async () => {
      const before = waited();
      await assert.rejects(chat('[wait]', {}, { timeout: 300 }), OpenAI.APIConnectionTimeoutError);
      await left(before);
    },
    'a named conversation': async () => {
      const named = { headers: { 'x-ctx-conversation': 'c' } };
      await chat('One', {}, named);
      await chat('Two', {}, named);
      const texts = requests()
        .at(-1)
        .body.messages.map((message) => message.content);
      assert.deepEqual(texts.slice(1), ['One', TEXT, 'Two']);
    },
  };
  for (const [client, , apis, answer] of LIBRARIES.filter(([name]) => name === 'LangChain')) {
    for (const from of apis) {
      for (const to of apis.filter((api) => api !== from)) {
        found[`${client}: ${from} with a model of ${to}`] = async () => {
          const ask = { api: from, base, model: models[to], tools: true, prompt: '[loop] What color is grass?' };
          assert.equal(await answer(ask), TEXT);
        };
      }
    }
  }
  return found;
}

/// Runs the checks; returns a line for each that fails.
export async function behavior(place) {
  const failures = [];
  for (const [name, work] of Object.entries(await checks(place))) {
    try {
      await work();
    } catch (error) {
      failures.push(`${name}: ${String(error.stack).slice(0, 1500)}`);
    }
  }
  return failures;
}

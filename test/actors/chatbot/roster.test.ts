/** Tests which API key an agent uses. A user who may change an agent must not learn its key by pointing the agent at another address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyFor } from '#actors/chatbot/rules.ts';
import { newAgent } from '#actors/model.ts';

const models = { originOf: ({ provider, baseUrl }: { provider: string; baseUrl: string }) => URL.parse(baseUrl)?.origin ?? provider };
const at = (baseUrl: string, provider: 'openai' | 'gemini' = 'openai') => ({ ...newAgent, id: 'a1', provider, baseUrl });
const own = (baseUrl: string) => ({ key: 'own', service: { provider: 'openai', baseUrl } as const });

const rows = [
  ['its own key for its own origin', at('https://a.example/v1'), own('https://a.example/v2'), 'own'],
  ['none for another origin', at('https://evil.example/v1'), own('https://a.example/v1'), ''],
  ['none for another provider', at('', 'gemini'), own(''), ''],
  ['its own key when the service of the key is not known', at('https://a.example'), { key: 'own', service: null }, 'own'],
  ['the key of the instance for the address of a provider', at(''), undefined, 'shared'],
  ['no key of the instance for an address of its own', at('https://evil.example'), undefined, ''],
] as const;
for (const [title, agent, key, expected] of rows)
  test(`keyFor: an agent asks with ${title}`, () => assert.equal(keyFor(agent, key, 'shared', models), expected));

/** Tests the options of the HTTP interface that come from the settings. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Environment, loadSettings } from '#config/load.ts';
import { httpOptionsOf } from '#src/settings.ts';

const optionsOf = (env: Environment) =>
  httpOptionsOf(loadSettings({ env, file: join(import.meta.dirname, 'missing.env') }), {} as Parameters<typeof httpOptionsOf>[1]);

test('http options: without BASE_URL the OpenAPI document names the server that returned it', () => {
  for (const env of [{}, { PORT: '4000' }, { HOST: '0.0.0.0' }]) assert.equal(optionsOf(env).serverUrl, '/', JSON.stringify(env));
});

test('http options: with BASE_URL the OpenAPI document names that address', () => {
  const { serverUrl, baseUrl } = optionsOf({ BASE_URL: 'https://gateway.example.com/api' });
  assert.deepEqual([serverUrl, baseUrl], ['https://gateway.example.com/api', 'https://gateway.example.com/api']);
});

/** Runs the walk of the README unchanged. Its commands are pasted into one bash, block by block, and every block has the promised result. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { hasCurl } from '#test/support/curl.ts';
import { isFree } from '#test/support/ports.ts';
import { removeFolder } from '#test/support/processes.ts';
import { choosePorts, makeFolder, Terminal, withPorts } from '#test/support/terminal.ts';
import { root } from '#test/source-tree.ts';

const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** Returns the commands of each step, by its number. */
const stepsOf = (text: string): ReadonlyMap<number, string> => {
  const section = text.slice(text.indexOf('## A walk'), text.indexOf('## How it compares'));
  return new Map(
    [...section.matchAll(/\*\*(\d+)\. [\s\S]*?```bash\n([\s\S]*?)```/g)].map(([, number, commands = '']) => [Number(number), commands]),
  );
};

const steps = stepsOf(readme);
const token = /^[A-Za-z0-9]{20,}$/m;
const received = /"from":"5511999990001"[^}]*"text":"Hello from the gateway"/;

/** Promises of the README for each step, and the lines that must be printed beyond them. */
const promises: readonly (readonly [step: number | string, promise: string, ...printed: RegExp[]])[] = [
  [1, 'the gateway gets ready', /"restored":0,"total":0\}/],
  [2, 'an instance has a token', token],
  [3, 'the phone links itself by the picture', /"number":"5511999990001".*"name":"My shop".*"device":1/],
  [4, 'it is connected', /^connected$/m],
  [5, 'the webhook is set', /"enabled":true,"url":"http:\/\/127.0.0.1:\d+\/hook"/],
  [6, 'the contact decrypts the text', /"status":"Sent","text":"Hello from the gateway"/, /"envelope":"pkmsg"/, received],
  [7, 'the answer comes by webhook', /^\{.*"EventType":"messages".*"text":"Hello from the contact"/m],
  ['cat stream.log', 'the answer came by the stream', /^data: .*"text":"Hello from the contact"/m],
  [8, 'both messages are found', /\[ 'Hello from the contact', 'Hello from the gateway' \]/],
  [9, 'killed and started again, it is connected', /"total":1\}/, /^connected$/m],
  [
    'curl -fs http://127.0.0.1:3001/stats',
    'there was no new pairing',
    /"pairings":0,"logins":\{"total":1,"failed":0,"double":0,/,
    /"unknown":\{\}/,
  ],
  [6, 'the contact decrypts a text of the restarted gateway', /"status":"Sent"/, new RegExp(`${received.source}.*${received.source}`)],
  [10, 'everything stops'],
  ['test ! -e "$DATA_DIR/gateway.pid"', 'the process left nothing that speaks of it'],
];

const reason = hasCurl ? '' : ' (left out: this machine has no curl)';

/** The data folder that a person has set before the walk begins, and its part of the title. */
const folders: readonly (readonly [dataDir: string | null, title: string])[] = [
  [null, ''],
  ['own/data', ', also with a data folder of its own'],
];

for (const [dataDir, title] of folders)
  test(`README: the walk works word for word${title}${reason}`, { skip: reason !== '' }, async () => {
    assert.deepEqual([...steps.keys()], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    const folder = makeFolder();
    const ports = await choosePorts();
    const { PATH = '', HOME = '' } = process.env;
    const own = dataDir === null ? {} : { DATA_DIR: dataDir };
    const terminal = new Terminal(folder, { PATH, HOME, PORT: String(ports.get(3000)), SANDBOX_PORT: String(ports.get(3001)), ...own });
    try {
      for (const [step, promise, ...printed] of promises) {
        const commands = typeof step === 'string' ? step : (steps.get(step) ?? '');
        const output = await terminal.paste(withPorts(commands, ports));
        for (const pattern of printed) assert.match(output, pattern, `${promise}, but ${step} printed:\n${output}`);
      }
      for (const port of ports.values()) assert.ok(await isFree(port), `${port} is still in use`);
    } finally {
      terminal.close();
      await removeFolder(folder);
    }
  });

/** Tests the runbook. Its commands work unchanged, and it names every state and reason. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { closeCauses } from '#actors/policy/close-cause.ts';
import { hasCurl } from '#test/support/curl.ts';
import { isFree } from '#test/support/ports.ts';
import { removeFolder } from '#test/support/processes.ts';
import { otherPorts, makeFolder, Terminal, withPorts } from '#test/support/terminal.ts';
import { root } from '#test/source-tree.ts';

const page = (name: string): string => readFileSync(join(root, name), 'utf8');
const runbook = page('docs/runbook.md');
const backup = page('docs/backup.md');
const walk = page('README.md').split('## A walk')[1] ?? '';

const blocksOf = (text: string): readonly string[] => [...text.matchAll(/```bash\n([\s\S]*?)```/g)].map(([, commands = '']) => commands);

/** Adapts commands to the simulated platform, whose folder has another name than that of the real one. */
const simulated = (commands: string): string =>
  commands
    .replaceAll('npm start', 'npm run sandbox')
    .replaceAll(/(?<!\w)data\//g, 'data/sandbox/')
    .replaceAll('npm run backup', 'DATA_DIR=data/sandbox npm run backup')
    .replaceAll(/(?<==|--to )restored\/data(?=\s)/g, 'restored/data/sandbox');

/** Adapts the commands that change the key to the restored data folder, which is in use by then. */
const inRestored = (commands: string): string =>
  commands.replaceAll(/(?<!\w)data\//g, 'restored/data/').replaceAll('npm start', 'DATA_DIR=restored/data npm start');

const connected =
  `until curl -fs http://127.0.0.1:3000/instance/status -H "token: $TOKEN" | field .instance.status | grep -x connected; do sleep 1; done\n` +
  'curl -fs http://127.0.0.1:3001/stats';

const reason = hasCurl ? '' : ' (left out: this machine has no curl)';

test(
  `runbook: backup, restore elsewhere and a change of the key bring the session back without a pairing${reason}`,
  { skip: reason !== '' },
  async () => {
    const folder = makeFolder();
    const ports = await otherPorts();
    const { PATH = '', HOME = '' } = process.env;
    const terminal = new Terminal(folder, { PATH, HOME, PORT: String(ports.get(3000)), SANDBOX_PORT: String(ports.get(3001)) });
    const paste = (commands: string): Promise<string> => terminal.paste(withPorts(simulated(commands), ports));
    try {
      for (const block of blocksOf(walk).slice(0, 4)) await terminal.paste(withPorts(block, ports));
      for (const [text, heading, sessions] of [
        [runbook, 'First look', false],
        [backup, 'Backup', false],
        [backup, 'Restore', true],
        [runbook, 'Change the encryption key', true],
      ] as const) {
        const section = text.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
        if (heading === 'Restore')
          assert.doesNotMatch(await paste(`(DATA_DIR=nowhere; ${blocksOf(section).join('')})`), /"ready":true/, 'no gateway was stopped');
        for (const block of blocksOf(section)) await paste(heading === 'Change the encryption key' ? inRestored(block) : block);
        if (sessions) assert.match(await paste(connected), /"pairings":0,/, heading);
      }
      await paste('kill "$(cat restored/data/gateway.pid)"; wait');
      for (const port of ports.values()) assert.ok(await isFree(port), `${port} is still in use`);
    } finally {
      terminal.close();
      await removeFolder(folder);
    }
  },
);

test('runbook: its table has every reason of a close', () => {
  for (const cause of closeCauses) assert.ok(runbook.includes(`| \`${cause}\` |`), cause);
});

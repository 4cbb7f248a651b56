/** The interface's spellings live in `src/contract/` (and in the schemas of `src/http/`): actors, adapter and storage speak the gateway's own words. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '#test/source-tree.ts';

/** Names that only the interface has; such as stand in answers and events beside those that every program would use. */
const spellings =
  /\b(?:wa_\w+|lead_\w+|chatbot_\w+|chatid|messageid|senderName|sender_pn|sender_lid|BaseUrl|EventType|instanceName|IsFromMe|IsGroup|JID|OwnerJID|OwnerPN|NameSetAt|MessageIDs|LabelEdit|LabelID|LoggedOut|JoinedGroup|batchNumber|callPeer|fileURL|buttonOrListid|plataform|paircode)\b/;

/** Names of columns that happen to be the same, and words of the vocabulary. */
const isColumn = (line: string): boolean =>
  /sender_pn|sender_lid|senderName|paircode|EventType/.test(line) && !/['"]EventType|EventType:/.test(line);

test('spellings: no file of actors, platform, media or webhooks writes the interface’s names', () => {
  const found = globSync('{actors,src/platform,src/media,src/webhooks,src/storage/journal}/**/*.ts', { cwd: root })
    .flatMap((path) =>
      readFileSync(join(root, path), 'utf8')
        .split('\n')
        .map((line, index) => ({ line: line.replace(/\/\*\*?.*|^\s*\*.*|\/\/.*/, ''), where: `${path}:${index + 1}` })),
    )
    .filter(({ line }) => spellings.test(line) && !isColumn(line))
    .map(({ line, where }) => `${where} ${line.trim()}`);
  assert.deepEqual(found, []);
});

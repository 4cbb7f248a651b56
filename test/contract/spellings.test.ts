/** Tests that names of the public interface appear only in `src/contract/` and in the schemas of `src/http/`. Other code uses the names of the gateway. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '#test/source-tree.ts';

/** Names that only the public interface uses, such as fields of answers and events. Common words are left out. */
const spellings =
  /\b(?:wa_\w+|lead_\w+|chatbot_\w+|chatid|messageid|senderName|sender_pn|sender_lid|BaseUrl|EventType|instanceName|IsFromMe|IsGroup|JID|OwnerJID|OwnerPN|NameSetAt|MessageIDs|LabelEdit|LabelID|LoggedOut|JoinedGroup|batchNumber|callPeer|fileURL|buttonOrListid|plataform|paircode)\b/;

/** True for a line with a database column of the same name, or with a term of the gateway. */
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

/** Tests the archive of the extension: its files, and the requested permissions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extensionArchive, zipOf } from '#src/web/extension.ts';
import { unzip } from '#test/support/zip.ts';

test('archive: every file is unpacked with its bytes, also an empty file', () => {
  const files = [
    { name: 'a.txt', bytes: Buffer.from('one') },
    { name: 'b/empty', bytes: Buffer.alloc(0) },
    { name: 'b/c.bin', bytes: Buffer.from(Array.from({ length: 1_000 }, (_, n) => n % 256)) },
  ];
  const found = unzip(zipOf(files));
  assert.deepEqual(
    [...found],
    files.map(({ name, bytes }) => [name, bytes]),
  );
});

test('extension: its only permission is web.whatsapp.com, and every file of its manifest is in the archive', async () => {
  const files = unzip(await extensionArchive());
  const manifest = JSON.parse(String(files.get('dormouse-passkey/manifest.json'))) as Readonly<Record<string, unknown>>;
  assert.deepEqual(manifest['host_permissions'], ['https://web.whatsapp.com/*']);
  for (const name of ['permissions', 'optional_permissions', 'optional_host_permissions', 'externally_connectable'])
    assert.equal(manifest[name], undefined);
  const [{ matches, js }] = manifest['content_scripts'] as [{ matches: readonly string[]; js: readonly string[] }];
  assert.deepEqual(matches, ['https://web.whatsapp.com/*']);
  const { service_worker: worker } = manifest['background'] as { service_worker: string };
  for (const name of [...js, worker]) assert.ok(files.has(`dormouse-passkey/${name}`), name);
});

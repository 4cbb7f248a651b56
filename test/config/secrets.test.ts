/** Tests the encryption key, which is generated once, kept private and never replaced. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { encryptionKey } from '#config/secrets.ts';

const folder = mkdtempSync(join(tmpdir(), 'secrets-'));
after(() => rmSync(folder, { recursive: true }));
const mode = (path: string): number => statSync(path).mode & 0o777;

test('encryption key: the first start generates one that only the owner can read, and later starts read it', () => {
  const dataDir = join(folder, 'new', 'data');
  const key = encryptionKey({ encryptionKey: null, dataDir });
  assert.equal(key.length, 32);
  assert.deepEqual(encryptionKey({ encryptionKey: null, dataDir }), key);
  assert.equal(mode(dataDir), 0o700);
  assert.equal(mode(join(dataDir, 'encryption.key')), 0o600);
  assert.deepEqual(readdirSync(dataDir), ['encryption.key']);
});

test('encryption key: a configured one is used unchanged and no file is written', () => {
  const dataDir = join(folder, 'untouched');
  const configured = Buffer.alloc(32, 1);
  assert.equal(encryptionKey({ encryptionKey: configured, dataDir }), configured);
  assert.throws(() => statSync(dataDir), /ENOENT/);
});

test('encryption key: a damaged file ends the start and is not changed', () => {
  const dataDir = mkdtempSync(join(folder, 'damaged-'));
  writeFileSync(join(dataDir, 'encryption.key'), 'short\n');
  assert.throws(() => encryptionKey({ encryptionKey: null, dataDir }), /does not hold a key of 32 bytes/);
  assert.deepEqual(readdirSync(dataDir), ['encryption.key']);
});

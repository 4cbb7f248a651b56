/** Tests that the type by the first bytes equals the type by the whole file. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import sharp from 'sharp';
import { typeOf, typeOfHead } from '#src/media/intake.ts';
import { folderFor } from './media-files.ts';

const picture = () => sharp({ create: { width: 90, height: 60, channels: 3, background: 'red' } });

const rows: readonly (readonly [string, () => Promise<Buffer> | Buffer, string, boolean])[] = [
  ['a JPEG', () => picture().jpeg().toBuffer(), 'image/jpeg', true],
  ['a GIF', () => picture().gif().toBuffer(), 'image/gif', true],
  ['a WebP', () => picture().webp().toBuffer(), 'image/webp', true],
  ['a PDF', () => Buffer.from(`%PDF-1.4\n${'1 0 obj\n'.repeat(20)}`), 'application/pdf', true],
  ['a PNG, which may be animated further on', () => picture().png().toBuffer(), 'image/png', false],
  ['a JPEG-LS, which begins like a JPEG', () => Buffer.concat([Buffer.from('ffd8fff7', 'hex'), Buffer.alloc(100)]), 'image/jls', false],
  ['the begin of a JPEG', () => Buffer.from('ffd8ffe0', 'hex'), 'image/jpeg', false],
  ['a text', () => Buffer.from('only words '.repeat(20)), 'text/plain', false],
  [
    'a drawing behind comments',
    () => Buffer.from(`<!-- a --> <?xml version="1.0"?>\n<!---->\n<!DOCTYPE svg>${'<!-- b -->'.repeat(5)}<svg>`),
    'image/svg+xml',
    false,
  ],
  ['a page behind comments', () => Buffer.from(`${'<!-- a -->'.repeat(20)}<html>`), 'text/html', false],
  // Patterns that may end a comment, or a run of white space, in more than one way would take exponential time on these.
  ['comments and no element', () => Buffer.from(`${'<!---->'.repeat(580)}x`), 'text/plain', false],
  ['white space and no element', () => Buffer.from(`${' \n'.repeat(2_000)}x`), 'text/plain', false],
  ['a comment without an end', () => Buffer.from(`<!--${'-- >'.repeat(900)}`), 'text/plain', false],
];

for (const [title, make, type, isPlain] of rows)
  test(`type: ${title}`, async (t) => {
    const [folder, bytes] = [await folderFor(t), await make()];
    const path = folder.newPath();
    await writeFile(path, bytes);
    assert.equal(await typeOf(path), type);
    assert.equal(await typeOfHead(bytes), isPlain ? type : null);
  });

/** Reads a ZIP archive of stored files by its directory, as an unpacker does. */
import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';

export const unzip = (archive: Buffer): ReadonlyMap<string, Buffer> => {
  const end = archive.length - 22;
  assert.equal(archive.readUInt32LE(end), 0x06054b50, 'the directory ends the archive');
  const files = new Map<string, Buffer>();
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    assert.equal(archive.readUInt32LE(at), 0x02014b50);
    const [crc, size, nameLength] = [archive.readUInt32LE(at + 16), archive.readUInt32LE(at + 24), archive.readUInt16LE(at + 28)];
    const entry = archive.readUInt32LE(at + 42);
    assert.equal(archive.readUInt32LE(entry), 0x04034b50);
    const name = archive.toString('ascii', at + 46, at + 46 + nameLength);
    const begin = entry + 30 + archive.readUInt16LE(entry + 26) + archive.readUInt16LE(entry + 28);
    const bytes = archive.subarray(begin, begin + size);
    assert.equal(crc32(bytes), crc, name);
    files.set(name, bytes);
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return files;
};

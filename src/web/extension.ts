/** The browser extension for accounts with a passkey, as one ZIP archive that the dashboard offers. */
import { readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

// A ZIP archive of small files, stored without compression (PKWARE APPNOTE 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16).

interface ZipFile {
  /** The path in the archive, with slashes, in ASCII. */
  readonly name: string;
  readonly bytes: Buffer;
}

/** 1 January 1980, the first date of the format. With a constant date the same files always make the same archive. */
const date = 0x0021;
const version = 20;

/** Returns the fields that both headers of a file share, from "version needed" to "extra field length". */
const common = ({ name, bytes }: ZipFile): Buffer => {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(version, 0);
  fields.writeUInt16LE(date, 8);
  fields.writeUInt32LE(crc32(bytes), 10);
  fields.writeUInt32LE(bytes.length, 14);
  fields.writeUInt32LE(bytes.length, 18);
  fields.writeUInt16LE(name.length, 22);
  return fields;
};

const signature = (text: string): Buffer => Buffer.from(`PK${text}`, 'latin1');

export const zipOf = (files: readonly ZipFile[]): Buffer => {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const file of files) {
    const name = Buffer.from(file.name, 'ascii');
    const entry = Buffer.concat([signature('\x03\x04'), common(file), name, file.bytes]);
    // The comment length, the disk number and the attributes are zero. The last four bytes are the offset of the entry.
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    const madeBy = Buffer.from([version, 0]);
    central.push(Buffer.concat([signature('\x01\x02'), madeBy, common(file), rest, name]));
    local.push(entry);
    offset += entry.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...local, directory, signature('\x05\x06'), end]);
};

// The files of the extension are packed unchanged from `extension/`.

const names = ['manifest.json', 'panel.js', 'worker.js'] as const;

export const extensionArchive = async (): Promise<Buffer> =>
  zipOf(
    await Promise.all(
      names.map(async (name) => ({
        name: `dormouse-passkey/${name}`,
        bytes: await readFile(new URL(`extension/${name}`, import.meta.url)),
      })),
    ),
  );

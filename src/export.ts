/** `npm run export`: writes sessions of this gateway to folders of the bare library or to a sealed archive. */
import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ExportPart, exportParts } from '#actors/views/moving.ts';
import { type AdminClient, type InstanceRow, openAdminClient } from './admin-client.ts';
import { runCommand } from './progress.ts';
import { askSecret, commandLine, secretIn } from './base/command-line.ts';
import { openLines } from './moving/archive.ts';
import { sessionsIn } from './moving/archived.ts';
import { writeFolder } from './moving/readers/folder.ts';
import { SourceFault } from './moving/session.ts';

const usage = `npm run export -- [--instance INSTANCE] [--as archive|folder] [--out PATH] [OPTIONS]

Exports sessions of the running gateway (settings HOST, PORT and ADMIN_TOKEN): one instance, several, or all. An archive has credentials, keys, settings
and webhooks under a passphrase, and \`npm run import -- --from dormouse\` takes it. With --with messages it also has chats and messages, and is larger. A folder is what useMultiFileAuthState of the bare library reads.
A session that runs is refused without --stop: two gateways on one device replace each other.

Examples:
  npm run export -- --out ./sessions.dormouse --stop
  npm run export -- --out ./sessions.dormouse --stop --with messages
  npm run export -- --instance shop --as folder --out ./sessions --stop

Options:
  --instance INSTANCE     id or name; may be repeated; all paired instances without it
  --as FORM               archive (usual) or folder
  --out PATH              file of the archive, or the folder in which a folder for each session is made
  --passphrase-file FILE  file with the passphrase of the archive, of 12 characters at least; asked for twice without it
  --with messages         adds chats with their lead fields and settings, messages and contacts to the archive
  --stop                  closes the sessions first, without a logout; their instances stay disconnected
  --to ADDRESS            address of the gateway`;

const { values } = commandLine(
  {
    options: {
      instance: { type: 'string', multiple: true, default: [] },
      as: { type: 'string', default: 'archive' },
      out: { type: 'string' },
      'passphrase-file': { type: 'string' },
      stop: { type: 'boolean', default: false },
      with: { type: 'string', multiple: true, default: [] },
      to: { type: 'string' },
    },
  },
  usage,
);

const leastPassphrase = 12;

/** Returns the instances that the command names. Returns none if the command names none, which stands for all paired instances. */
const namedIn = (all: readonly InstanceRow[]): readonly InstanceRow[] =>
  values.instance.map((wanted) => {
    const found = all.filter(({ id, name }) => id === wanted || name === wanted);
    const [first] = found;
    if (first === undefined) throw new Error(`There is no instance ${wanted}.`);
    if (found.length > 1) throw new Error(`${found.length} instances are named ${wanted}: say which one by its id.`);
    return first;
  });

/** Returns the ids of the instances that the command names. */
const idsOf = async (client: AdminClient): Promise<readonly string[]> =>
  values.instance.length === 0 ? [] : namedIn(await client.instances()).map(({ id }) => id);

/**
 * Refuses a session that runs, unless the command stops it. The gateway checks the same before it writes the archive. An instance without an owner, or
 * one that shows a QR code or a pairing code, has no session.
 */
const refuseRunning = async (client: AdminClient): Promise<void> => {
  if (values.stop) return;
  const all = await client.instances();
  const running = (values.instance.length === 0 ? all : namedIn(all)).find(
    ({ owner, status, qrcode, paircode }) => owner !== '' && status !== 'disconnected' && qrcode === '' && paircode === '',
  );
  if (running !== undefined) throw new Error(`The session of the instance ${running.id} runs: --stop closes it first.`);
};

const longEnough = (passphrase: string): string => {
  if (passphrase.length < leastPassphrase) throw new Error(`The passphrase must have at least ${leastPassphrase} characters.`);
  return passphrase;
};

/** Asks for the passphrase twice. A typing error would make an archive that nothing opens. */
const askPassphrase = async (): Promise<string> => {
  const typed = await askSecret('Passphrase for the archive: ');
  if (typed === null) throw new Error('There is no terminal to ask for a passphrase: name a file with --passphrase-file.');
  const passphrase = longEnough(typed);
  if ((await askSecret('The same passphrase again: ')) !== passphrase)
    throw new Error('The two passphrases differ. Nothing was stopped or exported.');
  return passphrase;
};

const passphraseOf = async (client: AdminClient): Promise<string> => {
  const file = values['passphrase-file'];
  if (file !== undefined) return longEnough(await secretIn(file));
  await refuseRunning(client);
  return askPassphrase();
};

const partsOf = (): readonly ExportPart[] =>
  values.with.map((name) => {
    const part = exportParts.find((known) => known === name);
    if (part === undefined) throw new Error(`--with must be ${exportParts.join(' or ')}.`);
    return part;
  });

/** Writes the archive. The file gets its final name when it is complete. */
const writeArchive = async (client: AdminClient, parts: readonly ExportPart[], signal: AbortSignal): Promise<void> => {
  const out = values.out ?? 'sessions.dormouse';
  const refuseFile = async (): Promise<void> => {
    if (await stat(out).catch(() => null)) throw new Error(`${out} is there already.`);
  };
  await refuseFile();
  const instances = await idsOf(client);
  const passphrase = await passphraseOf(client);
  const stream = await client.exportArchive({ instances, passphrase, stop: values.stop, with: parts });
  // Two exports to one file must not write into the same unfinished file.
  const unfinished = `${out}.${randomBytes(4).toString('hex')}.unfinished`;
  try {
    await pipeline(Readable.fromWeb(stream as never), createWriteStream(unfinished, { mode: 0o600, flush: true }), { signal });
    await refuseFile();
    await rename(unfinished, out);
  } finally {
    await rm(unfinished, { force: true });
  }
  process.stdout.write(`The archive is whole: ${out}. Keep the passphrase: nothing opens the archive without it.\n`);
};

/** Reports a session that was not exported. The export continues with the next session. */
const refused = (reason: unknown): string => {
  if (typeof reason !== 'string' && !(reason instanceof SourceFault)) throw reason;
  process.exitCode = 1;
  return `refused: ${typeof reason === 'string' ? reason : reason.message}`;
};

const writeFolders = async (client: AdminClient): Promise<void> => {
  const out = values.out ?? 'sessions';
  const passphrase = randomBytes(24).toString('base64url');
  const stream = await client.exportArchive({ instances: await idsOf(client), passphrase, stop: values.stop, with: [] });
  const used = new Set<string>();
  for await (const found of sessionsIn(openLines(stream as AsyncIterable<Uint8Array>, passphrase))) {
    const said = found.found === 'refused' ? refused(found.reason) : await writeFolder(found, out, used).catch(refused);
    process.stdout.write(`${found.name}: ${said}\n`);
  }
  process.stdout.write('The folders hold keys and credentials: store them like a password.\n');
};

await runCommand(async (signal) => {
  if (values.as !== 'archive' && values.as !== 'folder') throw new Error('--as must be archive or folder.');
  const parts = partsOf();
  if (values.as === 'folder' && parts.length > 0) throw new Error('--with is for an archive: a folder has keys and credentials alone.');
  const client = await openAdminClient(values.to ?? null);
  await (values.as === 'archive' ? writeArchive(client, parts, signal) : writeFolders(client));
});

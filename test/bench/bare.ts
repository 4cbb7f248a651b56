/** Runs the baseline, which is bare Baileys with keys in memory, in a separate process that executes the requests of the bench. */
import { createWriteStream } from 'node:fs';
import { Agent } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { Agent as Dispatcher, Dispatcher1Wrapper } from 'undici';
import {
  downloadContentFromMessage,
  initAuthCreds,
  makeWASocket,
  WA_CERT_DETAILS,
  type AuthenticationState,
  type GroupMetadata,
  type proto,
  type SignalDataTypeMap,
  type WASocket,
} from '@whiskeysockets/baileys';
import { pino } from 'pino';
import { silenceSignal } from '#src/sandbox/silence.ts';
import { answer } from './probe.ts';
import { scan } from './sandbox.ts';
import { arrived } from './tally.ts';

silenceSignal();

type Keys = Map<string, unknown>;

interface Session {
  readonly keys: Keys;
  readonly auth: AuthenticationState;
  sock: WASocket;
}

const logger = pino({ level: 'silent' });
const sessions = new Map<string, Session>();
let url = '';
let control = '';
/** The agent for the media host. The simulated platform issues the certificate of this host. */
let agent: Agent | undefined;
let dispatcher: Dispatcher | undefined;
/** The cached metadata of the groups to which texts are sent, as the guides of the library advise. */
const groups = new Map<string, GroupMetadata>();
/** Addresses of receivers, by the number of the account. Messages are posted in a simple way, without order, retries or storage. */
const hooks = new Map<string, string>();
/** Documents that arrived, by the ids of their messages. */
const documents = new Map<string, proto.Message.IDocumentMessage>();

const createAuth = (keys: Keys): AuthenticationState => ({
  creds: initAuthCreds(),
  keys: {
    get: <T extends keyof SignalDataTypeMap>(type: T, ids: string[]) =>
      Object.fromEntries(ids.flatMap((id) => (keys.has(`${type} ${id}`) ? [[id, keys.get(`${type} ${id}`)]] : []))) as {
        [id: string]: SignalDataTypeMap[T];
      },
    set: (data) => {
      for (const [type, entries] of Object.entries(data))
        for (const [id, value] of Object.entries(entries ?? {}))
          if (value === null || value === undefined) keys.delete(`${type} ${id}`);
          else keys.set(`${type} ${id}`, value);
    },
  },
});

const cachedGroupMetadata = async (jid: string): Promise<GroupMetadata | undefined> => groups.get(jid);

const post = async (url: string, message: object): Promise<void> => {
  const headers = { 'content-type': 'application/json' };
  const { ok } = await fetch(url, { method: 'POST', headers, body: JSON.stringify(message) });
  if (!ok) throw new Error('the receiver refused a message');
};

const connect = (auth: AuthenticationState): WASocket => {
  const media = agent ? { fetchAgent: agent as never } : {};
  const sock = makeWASocket({
    auth,
    logger,
    waWebSocketUrl: url,
    emitOwnEvents: false,
    markOnlineOnConnect: false,
    cachedGroupMetadata,
    ...media,
  });
  sock.ev.on('creds.update', (update) => void Object.assign(auth.creds, update));
  sock.ev.on('messages.upsert', ({ messages }) => {
    for (const { key, message } of messages) if (message?.documentMessage) documents.set(key.id ?? '', message.documentMessage);
    const hook = hooks.get(auth.creds.me?.id.split(':', 1)[0] ?? '');
    for (const one of messages) {
      if (one.key.fromMe || !one.message) continue;
      if (hook === undefined) arrived(one.message.conversation ?? one.message.extendedTextMessage?.text ?? '');
      else void post(hook, one);
    }
  });
  return sock;
};

/** Waits until the session is open or closed. Returns null for an open session, and otherwise the code of the close. */
const settled = (sock: WASocket, number: string): Promise<number | null> =>
  new Promise((resolve, reject) => {
    sock.ev.on('connection.update', ({ connection, lastDisconnect, qr }) => {
      if (qr !== undefined) scan(control, number, { qr }).catch(reject);
      if (connection === 'open') resolve(null);
      if (connection === 'close')
        resolve((lastDisconnect?.error as { output?: { statusCode?: number } } | undefined)?.output?.statusCode ?? -1);
    });
  });

const pair = async (number: string): Promise<void> => {
  const keys: Keys = new Map();
  const auth = createAuth(keys);
  const first = await settled(connect(auth), number);
  if (first !== 515) throw new Error(`the pairing of ${number} ended with ${first}`);
  const sock = connect(auth);
  const code = await settled(sock, number);
  if (code !== null) throw new Error(`the login of ${number} ended with ${code}`);
  sessions.set(number, { keys, auth, sock });
};

const sessionOf = (number: string): Session => {
  const session = sessions.get(number);
  if (!session) throw new Error(`there is no session of ${number}`);
  return session;
};

/** Ends the connection and keeps the keys. */
const end = async (number: string): Promise<void> => {
  const { sock } = sessionOf(number);
  const closed = new Promise<void>((resolve) => {
    sock.ev.on('connection.update', ({ connection }) => connection === 'close' && resolve());
  });
  await sock.end(undefined);
  await closed;
};

/** Logs in again with the existing keys. */
const login = async (number: string): Promise<void> => {
  const session = sessionOf(number);
  session.sock = connect(session.auth);
  const code = await settled(session.sock, number);
  if (code !== null) throw new Error(`the login of ${number} ended with ${code}`);
};

const forAll = async (numbers: readonly string[], atOnce: number, work: (number: string) => Promise<void>): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let number = numbers[next++]; number !== undefined; number = numbers[next++]) await work(number);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
};

interface Texts {
  readonly from: string;
  readonly to: readonly string[];
  readonly count: number;
  readonly concurrency: number;
  /** True for reactions to a message instead of texts. */
  readonly reactions?: boolean;
}

/** Sends texts. Returns the time until all were written, and until all were acknowledged. In milliseconds. */
const send = async ({ from, to, count, concurrency, reactions = false }: Texts): Promise<{ written: number; acknowledged: number }> => {
  const session = sessionOf(from);
  let [next, acks] = [0, 0];
  const done = Promise.withResolvers<void>();
  const countAck = (): void => {
    acks += 1;
    if (acks === count) done.resolve();
  };
  session.sock.ws.on('CB:ack,class:message', countAck);
  const worker = async (): Promise<void> => {
    while (next < count) {
      const n = next++;
      const chat = to[n % to.length]!;
      const remoteJid = chat.includes('@') ? chat : `${chat}@s.whatsapp.net`;
      const reaction = { react: { text: n % 2 === 0 ? '👍' : '', key: { remoteJid, fromMe: true, id: '3EB0538DA65A59F6D8A251' } } };
      await session.sock.sendMessage(remoteJid, reactions ? reaction : { text: `text number ${n} of the bench` });
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: concurrency }, worker));
  const written = performance.now() - start;
  await done.promise;
  session.sock.ws.off('CB:ack,class:message', countAck);
  return { written, acknowledged: performance.now() - start };
};

interface Files {
  readonly from: string;
  readonly to: readonly string[];
  readonly paths: readonly string[];
  readonly as: 'image' | 'document';
  readonly concurrency: number;
}

/** Sends each of the files, and waits until all messages are written. */
const sendFiles = async ({ from, to, paths, as, concurrency }: Files): Promise<void> => {
  const { sock } = sessionOf(from);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < paths.length) {
      const n = next++;
      const file = { url: paths[n]! };
      const content = as === 'image' ? { image: file } : { document: file, mimetype: 'application/pdf', fileName: 'a.pdf' };
      await sock.sendMessage(`${to[n % to.length]}@s.whatsapp.net`, content);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
};

answer('platform', (where: { url: string; control: string; noiseRoot: string; mediaAuthority: string }) => {
  ({ url, control } = where);
  agent = new Agent({ ca: where.mediaAuthority });
  dispatcher = new Dispatcher({ connect: { ca: where.mediaAuthority } });
  WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(where.noiseRoot, 'hex');
});
answer('pair', pair);
answer('send', send);
/** Posts each later message of `number` to `url`. */
answer('postTo', ({ number, url }: { readonly number: string; readonly url: string }) => void hooks.set(number, url));
/** Caches the metadata of this group, so that it is not requested again. */
answer('keepGroup', async ({ from, group }: { readonly from: string; readonly group: string }) => {
  groups.set(group, await sessionOf(from).sock.groupMetadata(group));
});
answer('sendFiles', sendFiles);
answer('hasDocument', (id: string) => documents.has(id));
/** Downloads the file of a document to the disk. */
answer('download', async ({ id, path }: { readonly id: string; readonly path: string }) => {
  const stream = await downloadContentFromMessage(documents.get(id)!, 'document', {
    options: { dispatcher: new Dispatcher1Wrapper(dispatcher!) } as never,
  });
  await pipeline(stream, createWriteStream(path));
});
interface Several {
  readonly numbers: readonly string[];
  readonly atOnce: number;
}

/** Logs in and sends a text. Returns the time from the start to the acknowledgement of the text by the platform. In milliseconds. */
const wake = async ({ from, to }: { readonly from: string; readonly to: string }): Promise<number> => {
  const start = performance.now();
  await login(from);
  const { sock } = sessionOf(from);
  const acknowledged = new Promise<void>((resolve) => sock.ws.once('CB:ack,class:message', () => resolve()));
  await sock.sendMessage(`${to}@s.whatsapp.net`, { text: 'a text of the bench' });
  await acknowledged;
  return performance.now() - start;
};

answer('wake', wake);
answer('end', ({ numbers, atOnce }: Several) => forAll(numbers, atOnce, end));
answer('login', ({ numbers, atOnce }: Several) => forAll(numbers, atOnce, login));
/** Drops the one-time keys, which use most of the memory of a session. The rest is the memory of a session with its keys on disk. */
answer('forgetPreKeys', () => {
  for (const { keys } of sessions.values()) for (const key of keys.keys()) if (key.startsWith('pre-key ')) keys.delete(key);
});
answer('connected', () => [...sessions.values()].filter(({ sock }) => sock.ws.isOpen).length);

/** Composes the simulated platform and opens its only port, which serves HTTP, WebSocket and HTTPS. */
import { createServer as createHttpServer, type IncomingMessage, type Server as HttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pino, type Logger } from 'pino';
import { WebSocketServer } from 'ws';
import { isLoopbackAddress } from '../base/loopback.ts';
import { AppState } from './app-state/app-state.ts';
import { Shops } from './business/shops.ts';
import { openIdentity, type ServerIdentity } from './certificates.ts';
import { CallLog, Counters } from './stats.ts';
import { ClientVersions } from './client-versions.ts';
import { Channels, LiveUpdates } from './channels/channels.ts';
import { buildControl } from './control/app.ts';
import { answerHttpErrors, refuse } from './control/errors.ts';
import type { Sandbox } from './interface.ts';
import { Faults } from './faults.ts';
import { Groups } from './groups.ts';
import { Connections } from './connections.ts';
import { createHandler } from './login.ts';
import { createMediaHost, MediaRights, openCertificates } from './media-host.ts';
import { Media } from './media.ts';
import { Inbox } from './messages/inbox.ts';
import { Outbox } from './messages/outbox.ts';
import { Receipts } from './messages/receipts.ts';
import { Pairing } from './pairing.ts';
import type { Parts } from './parts.ts';
import { People } from './people.ts';
import { Presence } from './presence.ts';
import { maySee } from './account.ts';
import { PrivacyTokens } from './privacy-tokens.ts';
import { Random } from './random.ts';
import { Bundles } from './signal/bundles.ts';
import { Phones } from './signal/phones.ts';
import { Database, Records } from './store/database.ts';
import { KeyStore } from './store/keys.ts';
import { MessageStore, PostStore } from './store/messages.ts';
import { QueueStore, SentStore } from './store/queue.ts';
import { maxFrame } from './wire/transport.ts';
import { Connection, type ConnectionHandler, type Tap } from './wire/connection.ts';
import { createWorld } from './world.ts';

export interface SandboxOptions {
  /** The port; 0 for any free port. */
  readonly port: number;
  /** The address to listen on; loopback if absent. On an address that is not loopback, the control interface answers requests to every host name. */
  readonly host?: string | undefined;
  readonly dataDir: string;
  /** Makes ids and references the same in every run. */
  readonly seed?: number | undefined;
  readonly log?: Logger | undefined;
  /** If false, messages are acknowledged without decryption, for benchmarks. */
  readonly decrypt?: boolean | undefined;
  /** Called with every stanza in its decrypted form, for tests. */
  readonly tap?: Tap | undefined;
}

export interface RunningSandbox {
  readonly port: number;
  readonly sandbox: Sandbox;
  stop(): Promise<void>;
}

const loopback = '127.0.0.1';
/** The time within which a new TCP connection must send its first byte. In milliseconds. */
const firstByteMs = 30_000;
const maxConnections = 20_000;
/** First byte of a TLS handshake. */
const tlsHandshake = 0x16;

export async function startSandbox(options: SandboxOptions): Promise<RunningSandbox> {
  const log = options.log ?? pino({ level: 'silent' });
  const host = options.host ?? loopback;
  const db = new Database(options.dataDir);
  const records = new Records(db);
  const identity = openIdentity(records);
  const certificates = await openCertificates(records);
  const parts = build(db, records, options, log);
  const sandbox = createWorld(parts, {
    noiseRoot: Buffer.from(identity.root).toString('hex'),
    mediaAuthority: certificates.authority,
  });
  const control = await buildControl(sandbox, {
    onSurprise: (error) => log.error({ error: String(error) }, 'control.failed'),
    memory: new SentStore(db),
    anyName: !isLoopbackAddress(host),
  });
  // Node would refuse a request without a `Host` header by itself. The control interface handles it instead, so that the error has its JSON format.
  const http = createHttpServer({ requireHostHeader: false }, (request, response) => control.handler(request, response));
  answerHttpErrors(http);
  const clients = new Clients(http, parts, identity, options.tap);
  const entrance = new Entrance(http, createMediaHost(certificates, parts));
  const port = await entrance.open(options.port, host).catch(async (error: unknown) => {
    await control.close();
    db.close();
    throw error;
  });
  parts.media.hosts = [`${loopback}:${port}`, `localhost:${port}`];
  const stop = async (): Promise<void> => {
    const closed = entrance.close();
    await control.close();
    const ended = clients.close();
    entrance.cut();
    await closed;
    await ended;
    db.close();
  };
  return { port, sandbox, stop };
}

function build(db: Database, records: Records, options: SandboxOptions, log: Logger): Parts {
  const random = new Random(options.seed);
  const counters = new Counters();
  const faults = new Faults();
  const keys = new KeyStore(db);
  const messages = new MessageStore(db);
  const people = new People(records, (error) => log.error({ error: String(error) }, 'listener.failed'));
  const connections = new Connections(db, new QueueStore(db), keys, faults, counters);
  const phones = new Phones(db, keys, people);
  const bundles = new Bundles(people, phones, keys, connections, faults, random);
  const groups = new Groups(records, people, connections, keys, random);
  const channels = new Channels(records, people, random);
  const shops = new Shops(records, random);
  const receipts = new Receipts(people, connections, groups, messages);
  const media = new Media(options.dataDir, random);
  const inbox = new Inbox(people, phones, messages, media, connections, receipts, counters);
  const tokens = new PrivacyTokens(records, people, connections, random);
  const outbox = new Outbox(people, phones, bundles, connections, messages, inbox, groups, tokens);
  const versions = new ClientVersions();
  const pairing = new Pairing({ people, phones, connections, counters, random, faults, versions });
  const presence = new Presence(people, connections, groups, (owner, viewer, category) =>
    maySee({ people, appState }, owner, viewer, category),
  );
  const appState = new AppState(db, records, people, connections, media, counters, random);
  const decrypt = options.decrypt ?? true;
  const traffic = {
    connections,
    phones,
    bundles,
    groups,
    receipts,
    inbox,
    outbox,
    media,
    pairing,
    presence,
    tokens,
    appState,
    calls: new CallLog(),
  };
  const inChannels = { channels, posts: new PostStore(db), liveUpdates: new LiveUpdates() };
  return {
    db,
    keys,
    messages,
    people,
    shops,
    ...inChannels,
    ...traffic,
    faults,
    versions,
    counters,
    random,
    log,
    decrypt,
    rights: new MediaRights(),
  };
}

/** The open connections of clients: one for each upgrade to `/ws/chat`. */
class Clients {
  readonly #parts: Parts;
  readonly #identity: ServerIdentity;
  readonly #handler: ConnectionHandler;
  readonly #tap: { readonly tap?: Tap };
  readonly #open = new Set<Connection>();
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: maxFrame, perMessageDeflate: false, autoPong: false });

  constructor(http: HttpServer, parts: Parts, identity: ServerIdentity, tap?: Tap) {
    this.#parts = parts;
    this.#identity = identity;
    this.#handler = createHandler(parts);
    this.#tap = tap ? { tap } : {};
    this.#sockets.on('wsClientError', (error, socket) => refuse(socket, 400, error.message));
    http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => this.#upgrade(request, socket, head));
  }

  /** Closes all connections, and resolves when their work has ended. */
  async close(): Promise<void> {
    const work = [...this.#open].map((client) => client.work);
    for (const client of this.#open) client.close(1001);
    await Promise.allSettled(work);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { faults, counters } = this.#parts;
    const fault = faults.take('refuseUpgrade');
    const path = (request.url ?? '').split('?')[0];
    if (fault) return refuse(socket, fault.code ?? 503, 'refused by a fault');
    if (path !== '/ws/chat') return refuse(socket, 404, 'only /ws/chat can be upgraded');
    if (this.#open.size >= maxConnections) return refuse(socket, 503, 'too many connections');
    this.#sockets.handleUpgrade(request, socket, head, (ws) => {
      counters.connections.open += 1;
      counters.connections.total += 1;
      counters.arrived('sockets', request.socket.remoteAddress);
      const connection: Connection = new Connection(ws, request.socket, this.#identity, faults, {
        ...this.#handler,
        ...this.#tap,
        onClosed: (one) => {
          this.#open.delete(one);
          this.#handler.onClosed(one);
        },
      });
      this.#open.add(connection);
    });
  }
}

/** The only port. It hands each TCP connection to HTTP or HTTPS by its first byte. */
class Entrance {
  readonly #http: HttpServer;
  readonly #https: Server;
  readonly #tcp: Server;
  readonly #sockets = new Set<Socket>();

  constructor(http: HttpServer, https: Server) {
    this.#http = http;
    this.#https = https;
    this.#tcp = createServer((socket) => this.#accept(socket));
  }

  /** Listens, and returns the port. */
  async open(port: number, host: string): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#tcp.once('error', reject);
      this.#tcp.listen(port, host, resolve);
    });
    return (this.#tcp.address() as AddressInfo).port;
  }

  /** Stops accepting connections. Resolves when the last connection has ended. */
  close(): Promise<void> {
    return new Promise((resolve) => this.#tcp.close(() => resolve()));
  }

  /** Cuts all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.setTimeout(firstByteMs, () => socket.destroy());
    socket.once('data', (first: Buffer) => {
      socket.pause();
      socket.setTimeout(0);
      socket.removeAllListeners('timeout');
      socket.unshift(first);
      // TLS reads from a paused socket. HTTP needs a resumed socket.
      const tls = first[0] === tlsHandshake;
      (tls ? this.#https : this.#http).emit('connection', socket);
      if (!tls) socket.resume();
    });
  }
}

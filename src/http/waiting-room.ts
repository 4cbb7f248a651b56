/**
 * Answers HTTP requests while the database is migrated, or replays its write-ahead log after a crash. Either may take minutes. During this time the process
 * is alive but not ready. When the database is ready, the gateway takes the port over.
 */
import { createServer, type Server } from 'node:http';

export interface Migrating {
  readonly name: string;
  readonly number: number;
  readonly of: number;
  readonly percent: number | null;
}

/** The step that delays a start. `recovering`: the embedded database server replays its write-ahead log. */
type Waited = Migrating | 'recovering';

export const sentenceOf = (waited: Waited): string => {
  if (waited === 'recovering') return 'the database reads its log after it was interrupted';
  const { name, number, of, percent } = waited;
  if (name === '') return 'another process migrates the database';
  const part = percent === null ? '' : `, index built to ${percent} %`;
  return `the database is migrated: ${name}, ${number} of ${of}${part}`;
};

const alive = /^\/health(\/live)?(\?|$)/;
/** The time after which a client may retry. In seconds. */
const retryAfter = 5;

interface Address {
  readonly host: string;
  readonly port: number;
}

export class WaitingRoom {
  readonly #address: Address;
  readonly #version: string;
  #server: Server | null = null;
  #now: Waited = { name: '', number: 0, of: 0, percent: null };

  constructor(address: Address, version: string) {
    this.#address = address;
    this.#version = version;
  }

  /** Sets the answer. The first call starts to listen. An error such as a port in use is ignored here, because the gateway reports it later. */
  tell(waited: Waited): void {
    this.#now = waited;
    // With port 0, the gateway would get another port than this server, so this server does not listen at all.
    if (this.#address.port !== 0) this.#server ??= this.#open();
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#server === null) return resolve();
      const closing = this.#server;
      this.#server = null;
      closing.close(() => resolve());
      closing.closeAllConnections();
    });
  }

  #open(): Server {
    const { host, port } = this.#address;
    return createServer((request, response) => {
      const [status, body] = this.#answer(request.url ?? '');
      const headers = { 'content-type': 'application/json; charset=utf-8', connection: 'close', 'retry-after': String(retryAfter) };
      // The body is read, because an unread body would reset the connection before the client sees the answer.
      request.resume().once('end', () => response.writeHead(status, headers).end(JSON.stringify(body)));
    })
      .on('error', () => undefined)
      .listen(port, host);
  }

  #answer(url: string): readonly [status: number, body: object] {
    const [now, version] = [this.#now, this.#version];
    const state = now === 'recovering' ? { status: now, version } : { status: 'migrating', version, migration: now };
    if (alive.test(url)) return [200, state];
    return [503, { error: sentenceOf(now), ...(url.startsWith('/health/ready') ? { reasons: [sentenceOf(now)] } : {}) }];
  }
}

/** The HTTP interface of a running gateway for the commands `npm run import` and `npm run export`. */
import { Readable } from 'node:stream';
import type { ExportPart, ImportedSession } from '#actors/gateway.ts';
import { baseUrlOf, loadSettings } from '#config/load.ts';
import { askSecret } from './base/command-line.ts';

export interface AdminClient {
  readonly address: string;
  /** Sends an archive of sessions. */
  importArchive(archive: Uint8Array | AsyncIterable<Uint8Array>, options: ImportOptions): Promise<readonly ImportedSession[]>;
  /** Requests an archive. Returns the bytes of the archive. */
  exportArchive(body: {
    readonly instances: readonly string[];
    readonly passphrase: string;
    readonly stop: boolean;
    readonly with: readonly ExportPart[];
  }): Promise<ReadableStream<Uint8Array>>;
  instances(): Promise<readonly InstanceRow[]>;
  /** Begins to connect an instance. Resolves with its status and the reason of its last disconnect. */
  connect(token: string): Promise<InstanceStatus>;
  status(token: string): Promise<InstanceStatus>;
}

interface ImportOptions {
  readonly passphrase: string;
  readonly dryRun: boolean;
  readonly into: string;
  readonly signal: AbortSignal;
}

export interface InstanceRow {
  readonly id: string;
  readonly name: string;
  /** The number of the account; '' before the first pairing. */
  readonly owner: string;
  readonly status: string;
  /** The current QR code and pairing code; '' for none. */
  readonly qrcode: string;
  readonly paircode: string;
}

interface InstanceStatus {
  readonly status: string;
  readonly reason: string;
}

interface InstanceBody {
  readonly instance?: { readonly status?: string; readonly lastDisconnectReason?: string };
  readonly error?: string;
}

/** Returns true if the connection to the gateway was closed before the answer. */
const wasCut = ({ cause }: TypeError): boolean =>
  ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes((cause as { readonly code?: string } | undefined)?.code ?? '');

/** Replaces the names of fields of the interface by the options of the commands. */
const withOptions = (text: string): string => text.replaceAll(/`(into|stop)`/g, '`--$1`');

const notThere = (address: string): Error =>
  new Error(`No gateway answers at ${address}. Start it with \`npm start\`, or say with --to where it is.`);

/**
 * Opens a client. `to` is the address of the gateway; with null the client uses the address in the settings. Asks for the admin token if
 * ADMIN_TOKEN is not set.
 */
export const openAdminClient = async (to: string | null): Promise<AdminClient> => {
  const settings = loadSettings();
  const address = (to ?? baseUrlOf(settings.host, settings.port)).replace(/(?<!\/)\/+$/, '');
  if (!/^https?:$/.test(URL.parse(address)?.protocol ?? '')) throw new Error('--to must be an address such as http://127.0.0.1:8080');
  const admintoken = settings.adminToken ?? (await askSecret('Admin token: '));
  if (admintoken === null) throw new Error('ADMIN_TOKEN is not set, and there is no terminal to ask for it.');

  let answered = false;
  const call = async (path: string, init: RequestInit): Promise<Response> => {
    const response = await fetch(address + path, init).catch((error: unknown) => {
      if (init.signal?.aborted) throw init.signal.reason;
      if (!(error instanceof TypeError)) throw error;
      throw answered || wasCut(error)
        ? new Error(`The gateway at ${address} has gone. The same command goes on when it is back.`)
        : notThere(address);
    });
    answered = true;
    if (response.ok) return response;
    const text = await response.text();
    let error = '';
    try {
      error = (JSON.parse(text) as InstanceBody).error ?? '';
    } catch {
      // The server at this address is not a gateway, so its answer has no JSON.
    }
    throw new Error(`The gateway at ${address} answered ${response.status}: ${error === '' ? 'no reason' : withOptions(error)}`);
  };
  const statusOf = async (response: Response): Promise<InstanceStatus> => {
    const { instance } = (await response.json()) as InstanceBody;
    return { status: instance?.status ?? '', reason: instance?.lastDisconnectReason ?? '' };
  };
  const json = { 'content-type': 'application/json' };

  return {
    address,
    async importArchive(archive, { passphrase, dryRun, into, signal }) {
      const query = new URLSearchParams({ from: 'dormouse', dryRun: String(dryRun), ...(into === '' ? {} : { into }) });
      const headers = { admintoken, 'x-passphrase': passphrase, 'content-type': 'application/octet-stream' };
      const body = archive instanceof Uint8Array ? Buffer.from(archive) : Readable.toWeb(Readable.from(archive));
      const response = await call(`/admin/import?${query}`, { method: 'POST', headers, body, duplex: 'half', signal });
      const { sessions } = (await response.json()) as { readonly sessions: readonly ImportedSession[] };
      return sessions.map((session) => ({ ...session, reason: withOptions(session.reason), notes: session.notes.map(withOptions) }));
    },
    async exportArchive(body) {
      const response = await call('/admin/export', { method: 'POST', headers: { admintoken, ...json }, body: JSON.stringify(body) });
      if (response.body === null) throw new Error('The gateway sent no archive.');
      return response.body as ReadableStream<Uint8Array>;
    },
    async instances() {
      return (await (await call('/instance/all', { headers: { admintoken } })).json()) as readonly InstanceRow[];
    },
    connect: async (token) => statusOf(await call('/instance/connect', { method: 'POST', headers: { token, ...json }, body: '{}' })),
    status: async (token) => statusOf(await call('/instance/status', { headers: { token } })),
  };
};

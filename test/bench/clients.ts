/** Starts the compared clients: the gateway with its HTTP interface, and bare Baileys. Both pair with the same simulated platform. */
import { request } from 'undici';
import { numberOf } from './bench.ts';
import { postJson, type BenchSandbox } from './sandbox.ts';
import { databaseServerOf, eventually, type Child, type ChildOptions, type Workshop } from './workshop.ts';

export interface Client extends Child {
  /** Pairs a new session, and waits until it is connected. Returns its token at the gateway, or '' for Baileys. */
  pair(number: string): Promise<string>;
  /** Returns the processor time of all threads of the process since its start. In milliseconds. */
  cpu(): Promise<number>;
}

export interface GatewayClient extends Client {
  readonly address: string;
  /** The working folder. A later process may continue in the same folder. */
  readonly folder: string;
  /** The process id of the database server, or null without a server. */
  readonly database: number | null;
}

export const adminToken = 'bench-admin-token-of-a-fair-length-0001';
/** Matches the address in the output of a start. Older revisions print the second form. */
const addressLine = /(?:API: +|listens on )(http:\/\/[^\s/]+)/;

interface Status {
  readonly instance: { readonly status: string; readonly qrcode: string };
}

const statusOf = async (address: string, token: string): Promise<Status['instance']> => {
  const { statusCode, body } = await request(`${address}/instance/status`, { headers: { token } });
  const { instance } = (await body.json()) as Partial<Status>;
  if (!instance) throw new Error(`GET /instance/status answered ${statusCode}`);
  return instance;
};

export const createInstance = async (address: string, name: string): Promise<{ readonly id: string; readonly token: string }> => {
  const answer = await postJson<{ token: string; instance: { id: string } }>(
    `${address}/instance/create`,
    { name: `bench ${name}` },
    { admintoken: adminToken },
  );
  return { id: answer.instance.id, token: answer.token };
};

const pairByHttp = async (address: string, number: string, sandbox: BenchSandbox): Promise<string> => {
  const { token } = await createInstance(address, number);
  await postJson(`${address}/instance/connect`, {}, { token });
  const qrcode = await eventually(async () => (await statusOf(address, token)).qrcode || null, `the QR code of ${number}`);
  await sandbox.scan(number, { qrcode });
  await eventually(async () => ((await statusOf(address, token)).status === 'connected' ? true : null), `the login of ${number}`);
  return token;
};

/** The rate at which sessions may be opened. `usual` is the default limit of the program. */
export type Gates = 'wide' | 'usual';

const gatesOf: Readonly<Record<Gates, Readonly<Record<string, string>>>> = {
  wide: { HANDSHAKES_AT_ONCE: '50', HANDSHAKES_PER_SECOND: '1000', CLUSTER_HANDSHAKES_PER_SECOND: '1000' },
  usual: {},
};

/** Starts the program with its default settings and an embedded database in its own folder. Only the limits of logins are raised. */
export const startGateway = async (
  workshop: Workshop,
  sandbox: BenchSandbox,
  options: ChildOptions = {},
  gates: Gates = 'wide',
): Promise<GatewayClient> => {
  const child = await workshop.start('src/main.ts', {
    ...options,
    measured: true,
    env: {
      DATA_DIR: 'data',
      PORT: '0',
      ADMIN_TOKEN: adminToken,
      PLATFORM_URL: sandbox.url,
      MAX_CONNECTED_INSTANCES: '10000',
      ...gatesOf[gates],
      ...options.env,
    },
  });
  const ended = child.said<never>();
  const started = eventually(() => addressLine.exec(child.output())?.[1] ?? null, 'the gateway to listen');
  const address = await Promise.race([started, ended]);
  return {
    ...child,
    address,
    database: databaseServerOf(child.folder),
    pair: (number) => pairByHttp(address, number, sandbox),
    cpu: () => child.ask('cpu'),
  };
};

const pairingsAtOnce = 4;

/** Pairs the sessions `from` to `to` of a series. Returns their tokens in this order. */
export const pairMany = async (client: Client, series: number, from: number, to: number): Promise<readonly string[]> => {
  const tokens: string[] = [];
  let next = from;
  const worker = async (): Promise<void> => {
    while (next < to) {
      const n = next++;
      tokens[n - from] = await client.pair(numberOf(series, n));
    }
  };
  await Promise.all(Array.from({ length: pairingsAtOnce }, worker));
  return tokens;
};

export const startBare = async (workshop: Workshop, sandbox: BenchSandbox): Promise<Client> => {
  const child = await workshop.start('test/bench/bare.ts');
  const { body } = await request(`${sandbox.control}/trust`);
  const roots = (await body.json()) as { noiseRoot: string; mediaAuthority: string };
  await child.ask('platform', { url: sandbox.url, control: sandbox.control, ...roots });
  return { ...child, pair: (number) => child.ask('pair', number).then(() => ''), cpu: () => child.ask('cpu') };
};

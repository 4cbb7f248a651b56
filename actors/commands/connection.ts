/** Commands on the connection of an instance: connect, hibernate, reset, disconnect, and linking an account that has a passkey. */
import { done, type InstanceId, noProxy, notConnected, refuse, type Result } from '../model.ts';
import { refusesInput } from '../policy/close-cause.ts';
import { routeOf } from '../policy/proxy-choice.ts';
import type { Chance, OpenOptions, Ports } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import type { PasskeyStage } from '../session/passkey.ts';
import { damageOf, type LifecycleSnapshot } from '../session/status.ts';
import type {
  DeviceLook,
  DisconnectedView,
  InstanceMethods,
  InstanceView,
  Origin,
  PasskeyCode,
  PasskeyMethods,
  PasskeyLink,
  PasskeyView,
} from '../views.ts';
import { isSettled, settleMs } from '../supervisor/cells.ts';
import { notDiscarded, type WithCells, type WithPolicy, type WithPorts } from './host.ts';
import { changeProxy, type ProxyHost } from './proxies.ts';

// Commands on linking an account that has a passkey.

/** The parts of the supervisor that these commands need. */
type PasskeyHost = WithCells & WithPorts<'passkeyCodes' | 'chance' | 'digest' | 'time'>;

// One-time codes with which the browser of an account's owner answers the passkey request. A code is valid for one linking of one instance.
// The first use of a code replaces the code with a long random ticket, so that a person who saw the code cannot continue.

type CodePorts = Pick<Ports, 'passkeyCodes' | 'chance' | 'digest' | 'time'>;

/** Letters and digits without look-alikes: no 0, 1, I, L, O and U. */
const alphabet = '23456789ABCDEFGHJKMNPQRSTVWXYZ';
/** The length of a code. Eight of 30 characters give 6.6e11 codes. */
const codeLength = 8;
const ticketLength = 43;
/** The lifetimes of a code and of a ticket. In milliseconds. A ticket outlives both stages after the assertion. */
const codeMs = 600_000;
const ticketMs = 600_000;

/** Generates a code of equally likely letters. Bytes that would favour the first letters are skipped. */
const codeOf = (chance: Chance): string => {
  const highest = 256 - (256 % alphabet.length);
  let code = '';
  while (code.length < codeLength) {
    const byte = Number.parseInt(chance.hex(1), 16);
    if (byte < highest) code += alphabet[byte % alphabet.length];
  }
  return code;
};

/** Returns the stored hash of a ticket, or of a code in any spelling. */
const hashOf = (digest: Ports['digest'], given: string): string => {
  if (given.length === ticketLength) return digest(`passkey ticket ${given}`);
  return digest(`passkey code ${given.toUpperCase().replaceAll(/[\s-]/g, '')}`);
};

const makePasskeyCode = async ({ passkeyCodes, chance, digest, time }: CodePorts, id: InstanceId): Promise<PasskeyCode> => {
  const code = codeOf(chance);
  const expiresAt = time.now() + codeMs;
  await passkeyCodes.put(id, hashOf(digest, code), codeMs);
  return { code: `${code.slice(0, 4)}-${code.slice(4)}`, expiresAt };
};

const findPasskeyLink = async ({ passkeyCodes, digest }: CodePorts, given: string): Promise<PasskeyLink | null> => {
  const row = await passkeyCodes.find(hashOf(digest, given));
  return row && { id: row.instanceId, used: row.used };
};

/** Returns the ticket; null if the code is no longer valid. */
const usePasskeyCode = async ({ passkeyCodes, chance, digest }: CodePorts, code: string): Promise<string | null> => {
  const ticket = chance.token(ticketLength);
  const isUsed = await passkeyCodes.use(hashOf(digest, code), hashOf(digest, ticket), ticketMs);
  return isUsed ? ticket : null;
};

/** A session that may be pairing. */
interface Pairing {
  readonly lifecycle: LifecycleSnapshot | null;
}

const viewOf = (cell: Pairing): PasskeyView | null => cell.lifecycle?.context.passkey ?? null;

/** Returns the passkey view at this stage, or a refusal. */
const at = (cell: Pairing, stage: PasskeyStage): Result<PasskeyView> => {
  const view = viewOf(cell);
  if (view === null) return refuse('conflict', 'the platform does not ask for a passkey: connect the instance and scan the QR code first');
  if (view.stage === stage) return done(view);
  return refuse('conflict', `the passkey is at the stage "${view.stage}", and not at "${stage}"`);
};

const passkeyCommands = (host: PasskeyHost): PasskeyMethods => ({
  passkey: (id) => host.cells.settled(id, async (cell) => done(viewOf(cell))),

  answerPasskey: (id, assertion) =>
    host.cells.settled(id, async (cell) => {
      const found = at(cell, 'assertion');
      if (!found.ok) return found;
      const problem = found.value.options && cell.link.passkeyProblem(assertion, found.value.options);
      if (problem !== null) return refuse('invalid', problem);
      cell.send({ type: 'passkey.assert', assertion, by: 'api' });
      return done(viewOf(cell));
    }),

  confirmPasskey: (id) =>
    host.cells.settled(id, async (cell) => {
      const found = at(cell, 'code');
      if (!found.ok) return found;
      cell.send({ type: 'passkey.confirm', by: 'api' });
      return done(viewOf(cell));
    }),

  cancelPasskey: (id) =>
    host.cells.settled(id, async (cell) => {
      if (viewOf(cell) === null) return refuse('conflict', 'the platform does not ask for a passkey');
      await host.ports.passkeyCodes.end(id);
      cell.send({ type: 'passkey.cancel', by: 'api' });
      await host.cells.settle(cell);
      return done(null);
    }),

  linkPasskey: (id) =>
    host.cells.settled(id, async (cell) => {
      const found = at(cell, 'assertion');
      return found.ok ? done(await makePasskeyCode(host.ports, id)) : found;
    }),

  passkeyLink: (code) => findPasskeyLink(host.ports, code),

  async usePasskeyLink(code) {
    const ticket = await usePasskeyCode(host.ports, code);
    return ticket === null ? refuse('conflict', 'the code was used meanwhile') : done(ticket);
  },
});

// Commands on the connection of an instance: connect, hibernate, reset, disconnect.

/** The parts of the supervisor that these commands need. */
export type ConnectionHost = ProxyHost & PasskeyHost & WithPolicy<'connectAnswer'>;

type ConnectionCommands = Pick<InstanceMethods, 'connect' | 'disconnect' | 'reset' | 'hibernate' | 'presence'> & PasskeyMethods;

/** Returns true if a later call started another pairing than this call. */
const isReplaced = (cell: Cell, { phone }: OpenOptions): boolean => {
  const chart = cell.lifecycle;
  return cell.view.status === 'connecting' && cell.record.jid === '' && chart !== null && chart.context.options.phone !== phone;
};

/** Returns true if the requested result exists (a connection, its QR, the code for its number), or cannot come any more. */
const hasAnswer =
  (options: OpenOptions) =>
  (cell: Cell): boolean => {
    const { status, qrcode, paircode, passkey } = cell.view;
    if (status !== 'connecting') return isSettled(cell);
    if (passkey) return true;
    return isReplaced(cell, options) || (options.phone === undefined ? qrcode : paircode) !== '';
  };

const proxyNeeded = refuse('conflict', 'the server allows no direct connections: set a proxy with POST /instance/proxy first');

const anotherAccount = refuse(
  'conflict',
  'the instance had another account: allowAccountChange allows this one, and removes the chats, messages, contacts and campaigns of the former account',
);
/** Compares only the last digits, because a number may lack digits that the platform's form has, such as the ninth digit. */
const isOtherNumber = (phone: string, owner: string): boolean => phone.slice(-8) !== owner.slice(-8);
const isForAnother = ({ record }: Cell, { phone }: OpenOptions): boolean =>
  record.jid === '' && !record.accountLeaves && record.owner !== '' && phone !== undefined && isOtherNumber(phone, record.owner);

const settledView = async (host: ConnectionHost, cell: Cell): Promise<Result<InstanceView>> => {
  await host.cells.settle(cell);
  await cell.stored();
  return done(cell.view);
};

/** Waits until a session is logged out. Returns false if its credentials still exist. */
const loggedOut = async (host: ConnectionHost, cell: Cell): Promise<boolean> =>
  (await host.cells.settle(cell)) && !cell.undiscarded && !cell.failed;

/** Retries an unfinished logout before a connect. */
async function discarded(host: ConnectionHost, cell: Cell): Promise<boolean> {
  const asked = cell.record.wanted === 'unlinked';
  if (!asked && !cell.undiscarded) return true;
  cell.send(asked ? { type: 'instance.disconnect' } : { type: 'instance.connect', options: {} });
  return loggedOut(host, cell);
}

async function disconnect(host: ConnectionHost, cell: Cell): Promise<Result<DisconnectedView>> {
  await cell.keeper.save({ wanted: 'unlinked' }); // wanted is stored first, so that the next start resumes the logout after a crash
  cell.send({ type: 'instance.disconnect' });
  const isOver = await loggedOut(host, cell);
  await cell.stored();
  if (!isOver) return notDiscarded;
  return done({ ...cell.view, stillLinked: cell.lifecycle?.context.stillLinked ?? '' });
}

/** Ends the passkey code of the instance. A code belongs to one linking, and the next linking may be of another account. */
const endPasskeyCode = async ({ ports }: ConnectionHost, { record: { id, jid } }: Cell): Promise<void> => {
  if (jid === '') await ports.passkeyCodes.end(id);
};

type ConnectOptions = Parameters<InstanceMethods['connect']>[1];

/** Returns the fields that differ from the default. */
const deviceLook = ({ systemName, browser, system }: DeviceLook): Partial<DeviceLook> =>
  Object.fromEntries(Object.entries({ systemName, browser, system }).filter(([, value]) => value !== ''));

/** Connects the instance. The region is set first, because no connection may use the old route. */
async function connect(
  host: ConnectionHost,
  cell: Cell,
  { region, allowAccountChange = false, ...options }: ConnectOptions,
  by: Origin,
): Promise<Result<InstanceView>> {
  if (!(await discarded(host, cell))) return notDiscarded;
  if (region !== undefined) {
    const changed = await changeProxy(host, cell, { mode: 'internal', region });
    if (!changed.ok) return changed;
  }
  const damage = damageOf(cell);
  if (damage) return damage;
  if (routeOf(cell.record.proxy ?? noProxy, host.policy.proxies.direct).via === 'nowhere') return proxyNeeded;
  host.cells.keepAwake(cell);
  if (cell.view.connected) return done(cell.view);
  const { id, wanted } = cell.record;
  if (!allowAccountChange && isForAnother(cell, options)) return anotherAccount;
  // A call that joins a pairing can only grant the permission. A call that starts a pairing also revokes it.
  if (allowAccountChange || cell.view.status === 'disconnected') cell.allowsAccountChange = allowAccountChange;
  const objection = host.cells.objection(id);
  if (objection) return objection;
  const begins = cell.view.status === 'disconnected';
  const { phone, ...look } = options;
  await cell.keeper.save({ wanted: 'online', ...look });
  // Other sessions may have taken the last slot meanwhile. No `await` separates this check from the event to the chart.
  const filled = host.cells.objection(id);
  if (filled) {
    cell.keeper.note({ wanted });
    return filled;
  }
  cell.connect({ ...deviceLook(cell.record), ...(phone === undefined ? {} : { phone }) }, by);
  if (begins) await endPasskeyCode(host, cell);
  await cell.waitFor(hasAnswer(options), host.policy.connectAnswer);
  if (isReplaced(cell, options)) return refuse('conflict', 'another connect request started a different pairing meanwhile');
  const verdict = cell.lifecycle?.context.verdict;
  if (cell.view.status === 'disconnected' && verdict && refusesInput(verdict.cause)) return refuse('invalid', verdict.sentence);
  return done(cell.view);
}

async function reset(host: ConnectionHost, cell: Cell, by: Origin): Promise<Result<InstanceView>> {
  const { status } = cell.view;
  if (status !== 'connected' && status !== 'connecting') return refuse('conflict', 'there is no running session to reset');
  await endPasskeyCode(host, cell);
  cell.send({ type: 'instance.reset', by });
  return settledView(host, cell);
}

async function hibernate(host: ConnectionHost, cell: Cell, by: Origin): Promise<Result<InstanceView>> {
  if (cell.view.status === 'hibernated') return done(cell.view);
  if (!cell.view.connected) return notConnected;
  await cell.keeper.save({ wanted: 'asleep' });
  await cell.waitFor((other) => !other.busy, settleMs); // accepted messages are sent before the session hibernates
  cell.send({ type: 'instance.hibernate', by });
  return settledView(host, cell);
}

async function wake(host: ConnectionHost, cell: Cell, by: Origin): Promise<Result<InstanceView>> {
  return cell.view.status === 'hibernated'
    ? connect(host, cell, {}, by)
    : refuse('conflict', `the instance is not hibernated: it is ${cell.view.status}`);
}

/** Reopens the connection of a running chart, or opens one. */
async function reconnect(host: ConnectionHost, cell: Cell, by: Origin): Promise<Result<InstanceView>> {
  const { status } = cell.view;
  if (cell.lifecycle !== null && (status === 'connected' || status === 'connecting')) return reset(host, cell, by);
  if (cell.record.jid === '') return refuse('conflict', 'the instance is not paired: connect it to pair it');
  return connect(host, cell, {}, by);
}

/** Commands on the connection for callers other than the instance's own API, such as the inspector. */
export const connectionSteps = { reconnect, hibernate, wake } as const;

export const connectionCommands = (host: ConnectionHost): ConnectionCommands => ({
  ...passkeyCommands(host),
  connect: (id, options) => host.cells.settled(id, (cell) => connect(host, cell, options, 'api')),

  disconnect: (id) => host.cells.settled(id, (cell) => disconnect(host, cell)),

  reset: (id) => host.cells.settled(id, (cell) => reset(host, cell, 'api')),
  hibernate: (id) => host.cells.settled(id, (cell) => hibernate(host, cell, 'api')),

  async presence(id, presence) {
    const shown = await host.cells.perform(id, 'account.presence', { presence });
    const cell = host.cells.get(id);
    if (shown.ok && cell) cell.presence = presence;
    return shown;
  },
});

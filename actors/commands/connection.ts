/** Commands on the connection of an instance: connect, hibernate, reset, disconnect. */
import { done, type InstanceId, notConnected, refuse, type Result } from '../model.ts';
import { refusesInput } from '../policy/close-cause.ts';
import type { OpenOptions } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import { damageOf } from '../session/status.ts';
import { isSettled, settleMs } from '../supervisor/cells.ts';
import type { DeviceLook, DisconnectedView, InstanceMethods, InstanceView, Origin } from '../views.ts';
import type { ConnectLimit } from './connect-limit.ts';
import { notDiscarded, type WithCells, type WithPolicy, type WithPorts } from './host.ts';
import type { ProxyChanges } from './proxies.ts';

/** The parts of the supervisor that these commands need. */
interface Host extends WithCells, WithPorts<'passkeyCodes'>, WithPolicy<'connectAnswer'> {
  readonly proxies: ProxyChanges;
  readonly connects: ConnectLimit;
}

type ConnectionCommands = Pick<InstanceMethods, 'connect' | 'disconnect' | 'reset' | 'hibernate' | 'presence'>;

/** Returns true if a later connect call has replaced the pairing of this call by another one. */
const isReplaced = (cell: Cell, { phone }: OpenOptions): boolean => {
  const chart = cell.lifecycle;
  return cell.view.status === 'connecting' && cell.record.jid === '' && chart !== null && chart.context.options.phone !== phone;
};

/**
 * Returns true if the requested result exists, or cannot come any more. A result is a connection, a QR code, the pairing code for the requested number, or a
 * request for a passkey.
 */
const hasAnswer =
  (options: OpenOptions) =>
  (cell: Cell): boolean => {
    const { status, qrcode, paircode, passkey } = cell.view;
    if (status !== 'connecting') return isSettled(cell);
    if (passkey) return true;
    return isReplaced(cell, options) || (options.phone === undefined ? qrcode : paircode) !== '';
  };

/** Returns true if the call begins a connection or another pairing. A call that joins a connection, or that the chart ignores, begins nothing. */
const begins = (cell: Cell, options: OpenOptions): boolean =>
  cell.status === 'connecting' ? isReplaced(cell, options) : (cell.lifecycle?.can({ type: 'instance.connect', options }) ?? true);

const proxyNeeded = refuse('conflict', 'the server allows no direct connections: set a proxy with POST /instance/proxy first');

const anotherAccount = refuse(
  'conflict',
  'the instance had another account: allowAccountChange allows this one, and removes the chats, messages, contacts and campaigns of the former account',
);
/** Compares only the last eight digits. A number may lack digits of the platform's form, such as the ninth digit in Brazil. */
const isOtherNumber = (phone: string, owner: string): boolean => phone.slice(-8) !== owner.slice(-8);
const isForAnother = ({ record }: Cell, { phone }: OpenOptions): boolean =>
  record.jid === '' && !record.accountLeaves && record.owner !== '' && phone !== undefined && isOtherNumber(phone, record.owner);

const settledView = async (host: Host, cell: Cell): Promise<Result<InstanceView>> => {
  await host.cells.settle(cell);
  await cell.stored();
  return done(cell.view);
};

/** Waits until a session is logged out. Returns false if its credentials still exist. */
const loggedOut = async (host: Host, cell: Cell): Promise<boolean> => (await host.cells.settle(cell)) && !cell.undiscarded && !cell.failed;

/** Retries an unfinished logout before a connect. Returns false if credentials still exist. */
async function discarded(host: Host, cell: Cell): Promise<boolean> {
  const asked = cell.record.wanted === 'unlinked';
  if (!asked && !cell.undiscarded) return true;
  cell.send(asked ? { type: 'instance.disconnect' } : { type: 'instance.connect', options: {} });
  return loggedOut(host, cell);
}

async function disconnect(host: Host, cell: Cell): Promise<Result<DisconnectedView>> {
  const objection = await host.cells.unlink(cell);
  if (objection) return objection;
  const isOver = await loggedOut(host, cell);
  await cell.stored();
  if (!isOver) return notDiscarded;
  return done({ ...cell.view, stillLinked: cell.lifecycle?.context.stillLinked ?? '' });
}

/** Ends the passkey code of the instance. A code belongs to one linking, and the next linking may be of another account. */
const endPasskeyCode = async ({ ports }: Host, { record: { id, jid } }: Cell): Promise<void> => {
  if (jid === '') await ports.passkeyCodes.end(id);
};

type ConnectOptions = Parameters<InstanceMethods['connect']>[1];

/** Returns the fields that differ from the default. */
const deviceLook = ({ systemName, browser, system }: DeviceLook): Partial<DeviceLook> =>
  Object.fromEntries(Object.entries({ systemName, browser, system }).filter(([, value]) => value !== ''));

/** Connects the instance. The region is set first, because no connection may use the old route. */
async function connect(
  host: Host,
  cell: Cell,
  { region, allowAccountChange = false, ...options }: ConnectOptions,
  by: Origin,
): Promise<Result<InstanceView>> {
  if (!(await discarded(host, cell))) return notDiscarded;
  if (region !== undefined) {
    const changed = await host.proxies.change(cell, { mode: 'internal', region });
    if (!changed.ok) return changed;
  }
  const damage = damageOf(cell);
  if (damage) return damage;
  if (!host.proxies.hasRoute(cell.record)) return proxyNeeded;
  host.cells.keepAwake(cell);
  if (cell.view.connected) return done(cell.view);
  const { id, wanted } = cell.record;
  if (!allowAccountChange && isForAnother(cell, options)) return anotherAccount;
  const objection = host.cells.objection(id) ?? (begins(cell, options) ? host.connects.objection(id) : null);
  if (objection) return objection;
  const isIdle = cell.view.status === 'disconnected';
  const { phone, ...look } = options;
  await cell.keeper.save({ wanted: 'online', ...look });
  // Other sessions may have taken the last slot meanwhile. No `await` separates this check from the event to the chart.
  const filled = host.cells.objection(id) ?? (begins(cell, options) ? host.connects.take(id) : null);
  if (filled) {
    // Another call may have begun a connection meanwhile, which needs `online`.
    const { status } = cell.view;
    if (status !== 'connecting' && status !== 'connected') cell.keeper.note({ wanted });
    return filled;
  }
  // A call that starts a pairing grants or revokes the permission to pair another account. A call that joins a pairing can only grant this permission.
  if (allowAccountChange || cell.view.status === 'disconnected') cell.allowsAccountChange = allowAccountChange;
  // A pairing that ended during the save noted `offline`. With this state, the next restart would not restore the new session.
  if (cell.record.wanted === 'offline') cell.keeper.note({ wanted: 'online' });
  cell.connect({ ...deviceLook(cell.record), ...(phone === undefined ? {} : { phone }) }, by);
  if (isIdle) await endPasskeyCode(host, cell);
  await cell.waitFor(hasAnswer(options), host.policy.connectAnswer);
  if (isReplaced(cell, options)) return refuse('conflict', 'another connect request started a different pairing meanwhile');
  const verdict = cell.lifecycle?.context.verdict;
  if (cell.view.status === 'disconnected' && verdict && refusesInput(verdict.cause)) return refuse('invalid', verdict.sentence);
  return done(cell.view);
}

async function reset(host: Host, cell: Cell, by: Origin): Promise<Result<InstanceView>> {
  const { status } = cell.view;
  if (status !== 'connected' && status !== 'connecting') return refuse('conflict', 'there is no running session to reset');
  const objection = host.connects.take(cell.record.id);
  if (objection) return objection;
  await endPasskeyCode(host, cell);
  cell.send({ type: 'instance.reset', by });
  return settledView(host, cell);
}

async function hibernate(host: Host, cell: Cell, by: Origin): Promise<Result<InstanceView>> {
  if (cell.view.status === 'hibernated') return done(cell.view);
  if (!cell.view.connected) return notConnected;
  await cell.keeper.save({ wanted: 'asleep' });
  await cell.waitFor((other) => !other.busy, settleMs); // accepted messages are sent before the session hibernates
  cell.send({ type: 'instance.hibernate', by });
  return settledView(host, cell);
}

async function wake(host: Host, cell: Cell, by: Origin): Promise<Result<InstanceView>> {
  return cell.view.status === 'hibernated'
    ? connect(host, cell, {}, by)
    : refuse('conflict', `the instance is not hibernated: it is ${cell.view.status}`);
}

/** Reopens the connection of a running chart, or opens one. */
async function reconnect(host: Host, cell: Cell, by: Origin): Promise<Result<InstanceView>> {
  const { status } = cell.view;
  if (cell.lifecycle !== null && (status === 'connected' || status === 'connecting')) return reset(host, cell, by);
  if (cell.record.jid === '') return refuse('conflict', 'the instance is not paired: connect it to pair it');
  return connect(host, cell, {}, by);
}

/** The changes of a connection that the inspector may request. `by`: the origin of the request. */
export type ConnectionSteps = Readonly<
  Record<'reconnect' | 'hibernate' | 'wake', (id: InstanceId, by: Origin) => Promise<Result<InstanceView>>>
>;

export function createConnection(host: Host): { readonly commands: ConnectionCommands; readonly steps: ConnectionSteps } {
  const { cells } = host;
  return {
    commands: {
      connect: (id, options) => cells.settled(id, (cell) => connect(host, cell, options, 'api')),
      disconnect: (id) => cells.settled(id, (cell) => disconnect(host, cell)),
      reset: (id) => cells.settled(id, (cell) => reset(host, cell, 'api')),
      hibernate: (id) => cells.settled(id, (cell) => hibernate(host, cell, 'api')),

      async presence(id, presence) {
        const shown = await cells.perform(id, 'account.presence', { presence });
        const cell = cells.get(id);
        if (shown.ok && cell) cell.presence.choose(presence);
        return shown;
      },
    },
    steps: {
      reconnect: (id, by) => cells.settled(id, (cell) => reconnect(host, cell, by)),
      hibernate: (id, by) => cells.settled(id, (cell) => hibernate(host, cell, by)),
      wake: (id, by) => cells.settled(id, (cell) => wake(host, cell, by)),
    },
  };
}

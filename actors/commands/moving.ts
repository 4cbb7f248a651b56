/** Imports sessions of other gateways, and exports sessions. An imported session stays disconnected until a caller connects it. */
import type { ImportedSession, ImportRequest, MovingMethods } from '../views.ts';
import { refusedSession } from '../views/moving.ts';
import { Mutex, storageRetryMs, within } from '../waiting.ts';
import { done, noProxy, refuse, type InstanceId, type InstancePatch, type InstanceRecord, type Result, type Webhook } from '../model.ts';
import { EpochLost, SourceProblem, type Arrival, type ArrivingSession, type MovedWebhook } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import type { WithPolicy, WithPorts } from './host.ts';
import type { Registry } from '../supervisor/registry.ts';
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import { addRows, isResting, leave, type LeavingHost, named, ownershipObjection, records, type RowsHost } from './archives.ts';
import { newRecord, tokenLength } from './instances.ts';
import type { Register } from './register.ts';
import { privateOf } from '../delivery/webhook-config.ts';

/** The parts of the supervisor that these commands need. */
type Host = LeavingHost &
  RowsHost &
  WithPorts<'chance' | 'log' | 'proxies' | 'receiver' | 'sessions' | 'signer' | 'sources' | 'time'> &
  WithPolicy<'webhooksPerInstance'> & {
    readonly dispatcher: Dispatcher;
    during<T>(id: InstanceId, work: () => Promise<T>): Promise<T>;
    readonly register: Pick<Register, 'discard' | 'lookUp'>;
    readonly registry: Registry;
  };

/** The target of a session: an existing instance, or a new instance (null). `replaces`: the instance has an older copy of the session. */
interface Taken {
  readonly ok: true;
  readonly record: InstanceRecord | null;
  readonly replaces: boolean;
}

type Target = Taken | Problem;

interface Problem {
  readonly ok: false;
  readonly outcome: 'here' | 'refused';
  readonly record: InstanceRecord | null;
  readonly reason: string;
}

const refused = (reason: string, record: InstanceRecord | null = null): Problem => ({ ok: false, outcome: 'refused', record, reason });

/** Returns why an instance cannot take the session; null if it can. */
const objectionTo = (record: InstanceRecord, { identity }: ArrivingSession): string | null => {
  if (record.jid !== '') return `the instance ${record.id} has a paired session: disconnect it first, or import under another name`;
  if (record.accountLeaves) return `the instance ${record.id} is being emptied for another account`;
  if (record.owner !== '' && record.owner !== identity.owner)
    return `the instance ${record.id} had another account: import under another name`;
  return null;
};

/**
 * Returns the target of a session that the instance already has. The session replaces the copy of the instance only if this copy rests, in two cases. First,
 * the last connection of the session ended later, so its keys are newer. Second, the copy was exported, and the import names the instance with `into`
 * (`isNamed`). The times decide nothing in the second case: the time of the source may be unknown, and an export with `stop` may end a connection with older
 * keys at a later time.
 */
const sameSession = (host: Host, record: InstanceRecord, { endedAt }: ArrivingSession, isNamed: boolean): Target => {
  const { id, lastDisconnect, lastDisconnectCause, accountLeaves } = record;
  const rests = isResting(host, record) && !accountLeaves;
  const isNewer = endedAt !== undefined && lastDisconnect !== null && endedAt > lastDisconnect;
  const isExported = rests && lastDisconnectCause === 'exported' && endedAt !== lastDisconnect;
  if (rests && (isNewer || (isExported && isNamed))) return { ok: true, record, replaces: true };
  const way = `name ${id} with \`into\` to replace its keys`;
  if (isNewer) return refused(`the instance ${id} runs with older keys of the session: export it with \`stop\` first, and ${way}`, record);
  if (isExported && endedAt === undefined)
    return refused(`the instance ${id} was exported, and the source does not say whether its keys are newer: ${way}`, record);
  return { ok: false, outcome: 'here', record, reason: `already here, as the instance ${id}` };
};

const targetOf = (host: Host, session: ArrivingSession, into: string): Target => {
  const found = named(host, into === '' ? session.name : into);
  if (into !== '' && found.length === 0) return refused('there is no instance of this name or id');
  const here = records(host).find(({ jid }) => jid === session.identity.jid);
  if (here) return sameSession(host, here, session, into !== '' && found.includes(here));
  if (found.length > 1) return refused(`${found.length} instances have this name: say which one by its id`);
  const [record = null] = found;
  const objection = record === null ? null : objectionTo(record, session);
  return objection === null ? { ok: true, record, replaces: false } : refused(objection, record);
};

/** Returns notes about keys that are replaced, and about registered instances that have a session of the same number. */
const notesOf = (host: Host, { identity: { owner } }: ArrivingSession, { record: target, replaces }: Taken): readonly string[] => {
  const same = records(host).filter((record) => record.owner === owner && record.jid !== '' && record.id !== target?.id);
  return [
    ...(replaces ? [`the keys of the source replace those of the instance ${target?.id}`] : []),
    ...same.map(({ id }) => `the instance ${id} has another session of the same number`),
  ];
};

interface Settings {
  readonly replaces: boolean;
  readonly patch: InstancePatch;
  readonly webhooks: readonly Webhook[];
  readonly lost: readonly string[];
}

const webhookOf = (host: Host, id: InstanceId, moved: MovedWebhook): Webhook | string => {
  const { ports } = host;
  const objection = ports.receiver.objection(moved.url);
  if (objection !== null) return `webhook: it is not taken over, because ${objection}`;
  const secrets = privateOf({ secret: '', headers: {} }, { ...moved, action: 'add', id: '' }, ports.signer);
  if (!secrets.ok) return `webhook: it is not taken over, because ${secrets.refusal.message}`;
  return { ...moved, ...secrets.value, id: ports.chance.hex(12), instanceId: id, managed: false, created: ports.time.now() };
};

const webhooksOf = (host: Host, id: InstanceId, moved: readonly MovedWebhook[]): Pick<Settings, 'webhooks' | 'lost'> => {
  const most = host.policy.webhooksPerInstance;
  if (moved.length > 0 && host.dispatcher.webhooks.receivers(id).length > 0)
    return { webhooks: [], lost: ['webhooks: the instance keeps its own webhooks'] };
  const made = moved.map((one) => webhookOf(host, id, one));
  const webhooks = made.filter((one) => typeof one !== 'string');
  const lost = made.filter((one) => typeof one === 'string');
  const beyond = webhooks.length > most ? [`webhooks: ${webhooks.length - most} of them are more than an instance may have`] : [];
  return { webhooks: webhooks.slice(0, most), lost: [...lost, ...beyond] };
};

const proxyOf = ({ ports }: Host, { proxy }: InstanceRecord, url: string): { patch: InstancePatch; lost: readonly string[] } => {
  if (url === '') return { patch: {}, lost: [] };
  if (proxy !== null) return { patch: {}, lost: ['proxy: the instance keeps its own proxy'] };
  const objection = ports.proxies.objection(url);
  if (objection !== null) return { patch: {}, lost: [`proxy: it is not taken over, because ${objection}`] };
  return { patch: { proxy: { ...noProxy, mode: 'custom', url } }, lost: [] };
};

/** Returns the token for the instance. Only a new instance takes the token over, because the clients of an existing instance know its own token. */
const tokenOf = async (host: Host, token: string, isNew: boolean): Promise<{ patch: InstancePatch; lost: readonly string[] }> => {
  if (token === '' || !isNew) return { patch: {}, lost: token === '' ? [] : ['token: the instance keeps its own token'] };
  if (!/^[\x21-\x7e]{16,200}$/.test(token))
    return { patch: {}, lost: ['token: it must have 16 to 200 visible ASCII characters, so the instance gets a new token'] };
  const taken = host.registry.byToken(token) ?? (await host.register.lookUp(token));
  if (taken !== null) return { patch: {}, lost: ['token: another instance has it, so the instance gets a new token'] };
  return { patch: { token }, lost: [] };
};

const settingsOf = async (
  host: Host,
  record: InstanceRecord,
  session: ArrivingSession,
  { isNew, replaces }: Pick<Taken, 'replaces'> & { readonly isNew: boolean },
): Promise<Settings> => {
  const hooks = webhooksOf(host, record.id, session.webhooks);
  const proxy = proxyOf(host, record, session.proxy);
  const token = await tokenOf(host, session.token, isNew);
  const lost = [...session.lost, ...hooks.lost, ...proxy.lost, ...token.lost];
  const patch: InstancePatch = {
    ...(isNew ? session.settings : {}),
    ...session.identity,
    ...proxy.patch,
    ...token.patch,
    wanted: 'offline',
    // The fields are cleared, because the cause `exported` would permit another replacement.
    ...(replaces && { lastDisconnect: host.ports.time.now(), lastDisconnectReason: '', lastDisconnectCause: '' }),
    ...(session.endedAt !== undefined && { lastDisconnect: session.endedAt }),
  };
  return { replaces, patch, webhooks: hooks.webhooks, lost };
};

const running = refuse('conflict', 'the instance is being connected: wait, or disconnect it first');

/** Stores the session. The instance accepts no connect meanwhile, because a connect would overwrite the credentials of the session. */
async function land(host: Host, cell: Cell, session: ArrivingSession, settings: Settings): Promise<Result<null>> {
  const { id, epoch } = cell.record;
  const { replaces } = settings;
  const target = replaces ? sameSession(host, cell.record, session, true) : null;
  const objection = target === null ? objectionTo(cell.record, session) : target.ok ? null : target.reason;
  if (objection !== null) return refuse('conflict', objection);
  if (cell.status !== 'disconnected' || cell.closing || cell.undiscarded) return running;
  const store = async (): Promise<Result<null>> => {
    // An earlier attempt to pair may have left keys in storage and in memory, which are deleted. An older copy of the session leaves only memory now. Storage
    // keeps it until the new session replaces it.
    await (replaces ? cell.link.forgetKeys() : cell.link.discard('delete', 'a session is imported'));
    await host.ports.sessions.cleared(id);
    const { credentials, keys } = session;
    const { patch, webhooks } = settings;
    const outcome = await host.ports.sessions.land(
      { instanceId: id, epoch },
      { fresh: null, replaces, credentials, keys, patch, webhooks },
    );
    if (outcome === 'elsewhere') return lateElsewhere;
    cell.keeper.note(patch);
    if (patch.token !== undefined) host.registry.addToken(patch.token, id);
    for (const webhook of webhooks) host.dispatcher.set(webhook);
    return done(null);
  };
  return (await host.cells.import(id, store)) ?? running;
}

const lateElsewhere = refuse('conflict', 'another instance has the session by now');

/**
 * Stores a new instance together with its session, so that a kill leaves both or none. The instance is registered in memory afterwards, so that no caller
 * connects it earlier.
 */
async function landInNew(host: Host, record: InstanceRecord, session: ArrivingSession, settings: Settings): Promise<Result<null>> {
  const { ports, register, registry, dispatcher } = host;
  const { id: instanceId, epoch } = record;
  const { credentials, keys } = session;
  try {
    const outcome = await ports.sessions.land({ instanceId, epoch }, { fresh: record, credentials, keys, ...settings });
    if (outcome === 'elsewhere') return lateElsewhere;
  } catch (error) {
    // Storage may have the instance although the write failed. Without this removal, a repeated import would find the session in an instance that no node knows
    // before its next start. The wait is bounded, because an outage may last.
    await within(ports.time, storageRetryMs, register.discard(record));
    throw error;
  }
  registry.register({ ...record, ...settings.patch });
  for (const webhook of settings.webhooks) dispatcher.set(webhook);
  return done(null);
}

const landed = async (host: Host, record: InstanceRecord, session: ArrivingSession, isNew: boolean, settings: Settings) => {
  try {
    if (isNew) return await landInNew(host, record, session, settings);
    const objection = await ownershipObjection(host, record.id, 'import');
    if (objection !== null) return refuse('conflict', objection);
    return await host.during(record.id, () => host.cells.settled(record.id, (cell) => land(host, cell, session, settings)));
  } catch (error) {
    if (error instanceof EpochLost) return refuse('conflict', 'another node took the instance meanwhile: import the session again');
    throw error;
  }
};

/** Returns the fields of an answer without its outcome. `lost` is empty, because only an import that takes settings over can lose some of them. */
const answerOf = (session: ArrivingSession, record: InstanceRecord | null): Omit<ImportedSession, 'outcome' | 'reason'> => ({
  name: session.name,
  instance: record?.id ?? '',
  token: record?.token ?? '',
  number: session.identity.owner,
  keys: session.keys.length,
  chats: 0,
  messages: 0,
  notes: session.notes,
  lost: [],
});

const freshRecord = ({ ports: { chance, time } }: Host, name: string): InstanceRecord => ({
  ...newRecord(`r${chance.hex(7)}`, chance.token(tokenLength), time.now()),
  name,
});

/** Returns the outcome that an import would have. */
const foresee = async (host: Host, session: ArrivingSession, { record, replaces }: Taken): Promise<ImportedSession> => {
  const { lost } = await settingsOf(host, record ?? newRecord('', '', 0), session, { isNew: record === null, replaces });
  const filled = replaces ? 'would get it in place of its earlier credentials and keys' : 'would be filled';
  const reason = record === null ? 'a new instance would be made' : `the instance ${record.id} ${filled}`;
  return { ...answerOf(session, record), outcome: 'ready', reason, lost };
};

/** Adds the archived contacts, chats and messages. The instance already has their session. */
const withRows = async (host: Host, session: ArrivingSession, signal: AbortSignal, answer: ImportedSession): Promise<ImportedSession> => {
  const { chats, messages, problem } = await addRows(host, answer.instance, session, signal);
  if (problem === null) return { ...answer, chats, messages };
  const reason = `the instance ${answer.instance} got the session, but not all of its messages: ${problem}`;
  return { ...answer, outcome: 'refused', reason, chats, messages };
};

async function importOne(host: Host, session: ArrivingSession, request: ImportRequest): Promise<ImportedSession> {
  const { dryRun, into, signal } = request;
  const target = targetOf(host, session, into);
  if (!target.ok) {
    const { outcome, reason } = target;
    const answer: ImportedSession = { ...answerOf(session, target.record), outcome, reason };
    return outcome === 'here' && !dryRun ? withRows(host, session, signal, answer) : answer;
  }
  const isNew = target.record === null;
  const notes = [...session.notes, ...notesOf(host, session, target)];
  if (dryRun) return { ...(await foresee(host, session, target)), notes };
  const record = target.record ?? freshRecord(host, session.name);
  const settings = await settingsOf(host, record, session, { isNew, replaces: target.replaces });
  const stored = await landed(host, record, session, isNew, settings);
  if (!stored.ok) {
    return { ...answerOf(session, isNew ? null : record), outcome: 'refused', reason: stored.refusal.message, notes };
  }
  host.ports.log.info({ instance: record.id, keys: session.keys.length, replaces: target.replaces }, 'session.imported');
  const now = host.registry.record(record.id) ?? record;
  const reason = `the instance ${record.id} has it${target.replaces ? ', in place of its earlier credentials and keys' : ''}`;
  return withRows(host, session, signal, { ...answerOf(session, now), outcome: 'imported', reason, notes, lost: settings.lost });
}

const noSession = (only: readonly string[]): Result<never> =>
  refuse('invalid', only.length === 0 ? 'The source has no session' : `The source has no session that is named ${only.join(' or ')}`);

/** Imports the wanted sessions one by one. Refuses a source without any session. A fault of the source after the first session becomes a row of the answer. */
const importAll = async (
  host: Host,
  arrivals: AsyncIterable<Arrival>,
  request: ImportRequest,
): Promise<Result<readonly ImportedSession[]>> => {
  const outcomes: ImportedSession[] = [];
  const isWanted = (name: string): boolean => request.only.length === 0 || request.only.includes(name);
  try {
    for await (const arrival of arrivals) {
      // The caller has disconnected, and has to repeat the import.
      if (request.signal.aborted) return done(outcomes);
      if (arrival.found === 'refused' && isWanted(arrival.name)) outcomes.push(refusedSession(arrival));
      if (arrival.found === 'session' && isWanted(arrival.session.name)) outcomes.push(await importOne(host, arrival.session, request));
    }
  } catch (error) {
    if (!(error instanceof SourceProblem)) throw error;
    if (outcomes.length === 0) return refuse('invalid', error.message);
    outcomes.push(refusedSession({ name: '', reason: error.message }));
  }
  return outcomes.length === 0 ? noSession(request.only) : done(outcomes);
};

export const movingCommands = (host: Host): MovingMethods => {
  /** Serializes imports. Otherwise two concurrent imports of one session would both find no instance with the session. */
  const mutex = new Mutex();
  return {
    async importSessions(upload, request) {
      const arrivals = await host.ports.sources.receive(upload, request);
      if (!arrivals.ok) return arrivals;
      return mutex.run(() => importAll(host, arrivals.value, request));
    },
    exportSessions: (request) => leave(host, request),
  };
};

/** The only entry from HTTP to the actors. Creates the parts of the process and implements `Gateway` with their commands. */
import { AdminToken, refusedCommands, serverCommands, stateCommands } from './commands/server.ts';
import { businessCommands, channelCommands, contactCommands, groupCommands, peopleCommands } from './commands/people.ts';
import { campaignCommands } from './commands/campaigns.ts';
import { chatChangeCommands, chatCommands, leadCommands } from './commands/chats.ts';
import { chatwootCommands, chatwootNews } from './commands/chatwoot.ts';
import { Chatbot } from './chatbot/chatbot.ts';
import { Replies, type RepliesHost } from './chatwoot/replies.ts';
import { deleteMessage, fileCommands, historyCommands, messageCommands } from './commands/messages.ts';
import { chatbotCommands } from './commands/chatbot.ts';
import { ConnectLimit } from './commands/connect-limit.ts';
import { createConnection } from './commands/connection.ts';
import { inspectorEvents, inspectorQueries } from './commands/inspector.ts';
import { instanceCommands } from './commands/instances.ts';
import { labelCommands, quickReplyCommands } from './commands/definitions.ts';
import { movingCommands } from './commands/moving.ts';
import { passkeyCommands } from './commands/passkey.ts';
import { ProxyChanges, proxyCommands } from './commands/proxies.ts';
import { sendCommands, SendOnce, withFilesHere } from './commands/sends.ts';
import { userCommands } from './commands/users.ts';
import { deliveryCommands, eventCommands, webhookCommands } from './commands/webhooks.ts';
import type { ClusterOptions } from './cluster/cluster.ts';
import { ownedGateway } from './cluster/owned-gateway.ts';
import { SharedSignIns } from './cluster/sign-ins.ts';
import type { AuditMethods, Gateway } from './views.ts';
import { done, type InstanceId, type Send } from './model.ts';
import { AuditLog } from './inspection/audit-log.ts';
import { Alerts } from './inspection/alerts.ts';
import { Troubles, type TroublesInput } from './inspection/troubles.ts';
import { figureCommands, FigureLog } from './inspection/figures.ts';
import { NumbersLog } from './commands/numbers.ts';
import type { Policy } from './policy/policy.ts';
import type { Ports, SignInStore } from './ports.ts';
import { Supervisor } from './supervisor.ts';

export { isExcluded } from './delivery/webhook-config.ts';
export { contentWarning, isWebAddress } from './policy/content-rules.ts';
export { exportParts, importOutcomes } from './views/moving.ts';
export { actorEventTypes, actorSorts, origins } from './views/inspector.ts';
export { eventDescriptions } from './session/chart-descriptions.ts';
export { chartNames } from './views/inspector.ts';
export type * from './views.ts';
export type { ClusterOptions } from './cluster/cluster.ts';
export { clusterPolicyOf } from './cluster/policy.ts';
export type * from './model.ts';
export {
  agentProviders,
  agentTools,
  allDone,
  channelViews,
  contactScopes,
  deliveryStates,
  done,
  eventNames,
  eventTypes,
  streamTypes,
  leadOperators,
  longestKeyword,
  maskedProxy,
  mediaKinds,
  naturalKey,
  messageFilters,
  messageStatuses,
  quickReplyTypes,
  privacyValues,
  proxyModes,
  reactionCodes,
  reasons,
  receiptStates,
  refuse,
  statuses,
  deviceBrowsers,
  deviceSystems,
  unknownInstance,
  roles,
  mayAct,
  auditActors,
  alertChannels,
  alertKinds,
  alertSecretNames,
  mailSecurities,
  passwordLengths,
} from './model.ts';
export type {
  AnswerOf,
  ByteRange,
  ChatFilter,
  ChatQuery,
  GroupQuery,
  GroupWish,
  InputOf,
  KeptFile,
  MessageQuery,
  OperationName,
} from './ports.ts';
export { logLevels, type LogLevel } from './ports/system.ts';
export { type LeaseCause, leaseCauses } from './ports/cluster.ts';
export { EpochLost, FilesUnavailable, StorageBroken, StorageBusy, StorageFull, StorageSlow, StorageUnavailable } from './ports.ts';

interface GatewayInput {
  readonly ports: Ports;
  readonly policy: Policy;
  /** The public URL of this gateway. Every webhook body contains the URL. */
  readonly baseUrl: string;
  /** The admin token of the environment; null if there is none. */
  readonly adminToken: string | null;
  /** Storage for dashboard sign-ins of a gateway without a cluster. If absent, sign-ins are kept in memory alone. */
  readonly signIns?: SignInStore;
  /** The options of a cluster. If absent, this process owns every instance. */
  readonly cluster?: ClusterOptions | undefined;
}

/** The gateway with the methods that start and stop it. */
export interface RunningGateway extends Gateway {
  /** The admin token that this start generated; null if it generated none. The caller prints the token once. */
  readonly madeAdminToken: string | null;
  /** Restores the sessions after a start. Commands work meanwhile. */
  restore(): Promise<void>;
  /** Reports the end of an outage of the database. The outbox is then searched for deliveries that no courier knows. */
  storageBack(): void;
  /** Moves sessions to other nodes before a stop, within the given number of milliseconds. Has no effect without a cluster. */
  drain(ms: number): Promise<void>;
  /** Closes every session, and resolves when accepted work is stored. */
  stop(): Promise<void>;
}

/** Routes commands to the node that owns the instance, in a cluster. */
const amongNodes = (gateway: RunningGateway, { cluster, registry, dispatcher, ports }: Supervisor): RunningGateway => {
  if (cluster === null) return gateway;
  return ownedGateway(
    gateway,
    cluster,
    {
      owner: (id) => (registry.record(id) === undefined ? null : id),
      async hook(hook, body) {
        // Chatwoot does not repeat a post. Another node may just have created the connector, so the webhooks are read again before the post is refused.
        if (dispatcher.webhooks.hooked(hook) === null) await cluster.refreshed();
        // A post in which nothing concerns the gateway is handled on this node, so that it never waits for a session that moves to another node. Chatwoot shows
        // a message as failed if its post is refused or late.
        return chatwootNews(ports, body) === null ? null : (dispatcher.webhooks.hooked(hook)?.instanceId ?? null);
      },
    },
    {
      send: async (id: InstanceId, given: Send, ...rest: readonly unknown[]) => {
        const send = cluster.sharesFiles ? await withFilesHere({ ports }, id, given) : done(given);
        return send.ok ? done([id, send.value, ...rest]) : send;
      },
    },
  );
};

/** Creates the object that sends the messages of Chatwoot's agents. `send` is the same command that HTTP uses. */
const repliesOf = (supervisor: Supervisor, send: RepliesHost['send']): Replies => {
  const { ports, policy, workers, connector, deliveries, registry, dispatcher } = supervisor;
  return new Replies({
    ports,
    policy: policy.chatwoot,
    workers,
    connector,
    underWay: deliveries,
    webhook: (id) => (registry.owns(id) ? dispatcher.webhooks.chatwoot(id) : null),
    connected: () => dispatcher.webhooks.connected().filter((id) => registry.owns(id)),
    send,
    account: (id) => registry.record(id) ?? { owner: '', lid: '' },
    remove: (id, messageId) => deleteMessage(supervisor, id, messageId),
  });
};

const startNumbersLog = (supervisor: Supervisor): NumbersLog => {
  const { ports, policy } = supervisor;
  const numbersLog = new NumbersLog({ ...ports, every: policy.numbersEvery ?? 0, numbers: () => supervisor.numbers(false) });
  numbersLog.start();
  return numbersLog;
};

const startFigureLog = ({ ports, workers, cluster }: Supervisor): FigureLog => {
  const { figureRows: store, memoryBytes, loopLagMs } = ports;
  const figureLog = new FigureLog({ ...ports, store, node: cluster?.figures.name ?? '', memoryBytes, loopLagMs, workers });
  figureLog.start();
  return figureLog;
};

const startAlerts = ({ ports, workers, cluster, registry, dispatcher, inspection }: Supervisor, baseUrl: string): Alerts => {
  const node = cluster?.figures.name ?? '';
  const counts: TroublesInput['counts'] = (record) => cluster?.counts(record) ?? true;
  const troubles = new Troubles({ ...ports, registry, dispatcher, node, counts, row: (id) => inspection.row(id) });
  const alerts = new Alerts({
    ports,
    workers,
    baseUrl,
    node,
    onDuty: () => cluster?.onDuty ?? true,
    find: () => troubles.find(),
    nodes: async () => (await cluster?.overview.nodes()) ?? [],
  });
  alerts.start();
  return alerts;
};

/** Starts the figures and the alerts of this node. */
const startWatch = (supervisor: Supervisor, baseUrl: string) => {
  const [figures, alerts] = [startFigureLog(supervisor), startAlerts(supervisor, baseUrl)];
  return {
    commands: { ...figureCommands(supervisor.ports), ...alerts.commands },
    stop(): Promise<void> {
      alerts.stop();
      return figures.stop();
    },
  };
};

/** Commands on the admin token. A rotation of the token ends the watchers of the inspector. */
const adminCommands = (admin: AdminToken, { watchers }: Supervisor): Pick<Gateway, 'isAdmin' | 'rotateAdminToken'> => ({
  isAdmin: (token) => admin.matches(token),
  async rotateAdminToken() {
    const before = admin.version;
    const rotated = await admin.rotate();
    // The version also changes if another node rotated the token first.
    if (admin.version !== before) watchers.end();
    return rotated;
  },
});

/** Commands that need only the supervisor. */
const supervisorCommands = (supervisor: Supervisor) => ({
  ...contactCommands(supervisor),
  ...businessCommands(supervisor),
  ...groupCommands(supervisor),
  ...peopleCommands(supervisor),
  ...quickReplyCommands(supervisor),
  ...historyCommands(supervisor),
  ...fileCommands(supervisor),
});

/** Commands on instances, their connections and their proxies. `changed` is called after the settings of an instance changed. */
const sessionCommands = (supervisor: Supervisor, changed: (id: InstanceId) => void) => {
  const { cells, ports, policy } = supervisor;
  const connects = new ConnectLimit(policy, ports.time);
  const proxies = new ProxyChanges({ ports, policy, connects });
  const connection = createConnection({ cells, ports, policy, proxies, connects });
  const queries = inspectorQueries(supervisor);
  return {
    ...instanceCommands(supervisor, proxies, changed),
    ...connection.commands,
    ...passkeyCommands(supervisor),
    ...proxyCommands(supervisor, proxies),
    ...queries,
    ...inspectorEvents(supervisor, connection.steps, queries.actor),
  };
};

const auditing = (ports: Ports): { readonly commands: AuditMethods; stop(): Promise<void> } => {
  const log = new AuditLog({ ...ports, store: ports.auditLog });
  return {
    commands: { audit: (note) => log.note(note), auditPage: (query) => ports.auditLog.find(query) },
    stop: () => log.stop(),
  };
};

/** Loads the instances and webhooks, and returns a gateway that accepts commands. The caller then calls `restore`. */
export async function createGateway({ ports, policy, baseUrl, adminToken, signIns: kept, cluster }: GatewayInput): Promise<RunningGateway> {
  const admin = await AdminToken.load(ports, adminToken, policy.adminRotateCooldown);
  const store = cluster?.signIns ?? kept;
  const signIns = store ? new SharedSignIns(store, () => admin.version, !cluster) : null;
  const access = signIns && { refresh: () => admin.refresh(), signIns };
  const supervisor = new Supervisor({ ports, policy, baseUrl, cluster: cluster && access ? { ...cluster, access } : undefined });
  // The chatbot uses the same commands as HTTP, so that both share the idempotency keys of sends. `during` delays a move of the instance until the send ended.
  const once = new SendOnce(ports);
  const sends = sendCommands(supervisor, once);
  const send: Gateway['send'] = (id, ...rest) => supervisor.during(id, () => sends.send(id, ...rest));
  const commands = { ...sends, send, ...leadCommands(supervisor), ...labelCommands(supervisor), ...chatCommands(supervisor) };
  const chatbot = new Chatbot({ ports, policy, commands, cell: (id) => supervisor.cells.get(id) });
  supervisor.attach(chatbot);
  if (supervisor.cluster?.streams) supervisor.attach(supervisor.cluster.streams.reader);
  await supervisor.load();
  const replies = repliesOf(supervisor, commands.send);
  const numbersLog = startNumbersLog(supervisor);
  const watch = startWatch(supervisor, baseUrl);
  supervisor.attach({ begun: () => replies.wake() });
  replies.wake();
  const audit = auditing(ports);
  const gateway: RunningGateway = {
    ...adminCommands(admin, supervisor),
    ...sessionCommands(supervisor, (id) => chatbot.changed(id)),
    ...messageCommands(supervisor),
    ...movingCommands(supervisor),
    ...commands,
    ...chatbotCommands(supervisor, (id) => chatbot.changed(id)),
    ...chatbot.commands,
    ...campaignCommands(supervisor, once),
    ...chatChangeCommands(supervisor),
    ...channelCommands(supervisor, commands),
    ...supervisorCommands(supervisor),
    ...webhookCommands(supervisor),
    ...eventCommands(supervisor),
    ...chatwootCommands(supervisor, replies),
    ...deliveryCommands(supervisor),
    ...userCommands(ports),
    ...audit.commands,
    ...watch.commands,
    ...serverCommands(supervisor, signIns),
    ...stateCommands(supervisor),
    ...refusedCommands(supervisor),
    get accepting() {
      return supervisor.accepting;
    },
    madeAdminToken: admin.made,
    restore: () => supervisor.restore(),
    storageBack: () => supervisor.outboxSearch.wake(),
    drain: (ms) => supervisor.drain(ms),
    async stop() {
      numbersLog.stop();
      replies.stop();
      await supervisor.stop();
      await Promise.all([audit.stop(), watch.stop()]);
    },
  };
  return amongNodes(gateway, supervisor);
}

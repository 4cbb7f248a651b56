/** The one door from HTTP to the actors: the composition of registry, instances, delivery and feed behind `Gateway`. */
import { createAdmin } from './commands/admin.ts';
import { channelCommands } from './commands/channels.ts';
import { campaignCommands } from './commands/campaigns.ts';
import { chatChangeCommands } from './commands/chat-changes.ts';
import { chatwootCommands, chatwootNews } from './commands/chatwoot.ts';
import { ChatbotDesk } from './chatbot/desk.ts';
import { chatbotCommands } from './commands/chatbot.ts';
import { chatCommands } from './commands/chats.ts';
import { contactCommands } from './commands/contacts.ts';
import { connectionCommands } from './commands/connection.ts';
import { fileCommands } from './commands/files.ts';
import { businessCommands } from './commands/business.ts';
import { groupCommands } from './commands/groups.ts';
import { historyCommands } from './commands/histories.ts';
import { inspectorCommands } from './commands/inspector.ts';
import { instanceCommands } from './commands/instances.ts';
import { labelCommands } from './commands/labels.ts';
import { leadCommands } from './commands/leads.ts';
import { messageCommands } from './commands/messages.ts';
import { peopleCommands } from './commands/people.ts';
import { proxyCommands } from './commands/proxies.ts';
import { quickReplyCommands } from './commands/quick-replies.ts';
import { serverCommands } from './commands/server.ts';
import { SendOnce } from './commands/send-once.ts';
import { sendCommands, withFilesHere } from './commands/sends.ts';
import { deliveryCommands } from './commands/deliveries.ts';
import { webhookCommands } from './commands/webhooks.ts';
import type { ClusterOptions } from './cluster/cluster.ts';
import { ownedGateway } from './cluster/owned-gateway.ts';
import { signInsOf } from './cluster/sign-ins.ts';
import type { Gateway } from './face.ts';
import { done, type InstanceId, type Send } from './model.ts';
import { NumbersLog } from './numbers-log.ts';
import type { Policy } from './policy/policy.ts';
import type { Ports, SignInStore } from './ports.ts';
import { Supervisor } from './supervisor.ts';

export { isExcluded } from './events/filter.ts';
export { buttonsWarning } from './policy/interactive-rules.ts';
export { actorEventTypes, actorSorts, origins } from './face/inspector.ts';
export { eventDescriptions } from './session/chart-descriptions.ts';
export { chartNames } from './face/inspector.ts';
export type * from './face.ts';
export type { ClusterOptions } from './cluster/cluster.ts';
export { clusterPolicyOf } from './cluster/policy.ts';
export type * from './model.ts';
export { isWebAddress } from './web-address.ts';
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
export { leaseCauses, type LeaseCause } from './ports/lease-store.ts';
export { EpochLost, FilesUnavailable, StorageBroken, StorageBusy, StorageFull, StorageSlow, StorageUnavailable } from './ports.ts';

export interface GatewayInput {
  readonly ports: Ports;
  readonly policy: Policy;
  /** Address of this server as integrators see it; part of every webhook body. */
  readonly baseUrl: string;
  /** Admin token of the environment, null when it has none. */
  readonly adminToken: string | null;
  /** Where a gateway without other nodes keeps the sign-ins to its dashboard; absent: in memory alone. */
  readonly signIns?: SignInStore;
  /** Absent: this process owns every instance. */
  readonly cluster?: ClusterOptions | undefined;
}

/** The gateway as its process sees it. */
export interface RunningGateway extends Gateway {
  /** Set when this start made the admin token: to be printed once. */
  readonly madeAdminToken: string | null;
  /** Brings the sessions back; commands work meanwhile. */
  restore(): Promise<void>;
  /** Before a stop: sessions go to other nodes, where there are any; for so many milliseconds at most. */
  drain(ms: number): Promise<void>;
  /** Closes every session; what was accepted is stored. */
  stop(): Promise<void>;
}

/** What a node does beside its gateway. */
interface NodeHooks {
  /** This node owns more instances than before. */
  onTaken(): void;
  /** Reads the admin token again; whether it is another one. */
  refresh(): Promise<boolean>;
}

/** In a cluster commands run on the node that owns the instance. */
const amongNodes = (gateway: RunningGateway, supervisor: Supervisor, { onTaken, refresh }: NodeHooks): RunningGateway => {
  const { cluster, registry, dispatcher, ports, watchers, inspection } = supervisor;
  if (cluster === null) return gateway;
  cluster.onTaken = onTaken;
  cluster.refreshAdmin = async () => {
    if (await refresh()) watchers.end();
    await cluster.signIns.look();
  };
  const owned = ownedGateway(
    gateway,
    cluster,
    {
      owner: (id) => (registry.record(id) === undefined ? null : id),
      async hook(hook, body) {
        // Chatwoot posts once, perhaps right after the connector was made on another node.
        if (dispatcher.webhooks.hooked(hook) === null) await cluster.refreshed();
        // A message that is refused or late is shown as failed, so no post waits for a session that moves unless there is something to do.
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
  cluster.show({
    row: (id) => inspection.rowOf(id),
    actor: (id) => owned.actor(id),
    watchHere: (id, watcher) => watchers.steps(id, watcher),
  });
  return owned;
};

/** Reads what is registered and answers with a gateway that takes commands. */
export async function createGateway({ ports, policy, baseUrl, adminToken, signIns: kept, cluster }: GatewayInput): Promise<RunningGateway> {
  const supervisor = new Supervisor({ ports, policy, baseUrl, cluster });
  const { made, refresh, version, ...admin } = await createAdmin(ports, adminToken, policy.adminRotateCooldown);
  // The chatbot uses the same commands as HTTP: a key of a send counts for both. A send is done before its instance goes to another node.
  const once = new SendOnce(ports, policy.sendKeyAge);
  const sends = sendCommands(supervisor, once);
  const send: Gateway['send'] = (id, ...rest) => supervisor.during(id, () => sends.send(id, ...rest));
  const commands = { ...sends, send, ...leadCommands(supervisor), ...labelCommands(supervisor), ...chatCommands(supervisor) };
  const chatbot = new ChatbotDesk({ ports, policy, commands, cell: (id) => supervisor.cell(id) });
  supervisor.attach(chatbot);
  if (supervisor.cluster?.streams) supervisor.attach(supervisor.cluster.streams.reader);
  await supervisor.load();
  const replies = supervisor.makeReplies(commands.send);
  const numbersLog = new NumbersLog({ ...ports, every: policy.numbersEvery ?? 0, numbers: () => supervisor.numbers(false) });
  numbersLog.start();
  replies.wake();
  const gateway: RunningGateway = {
    ...admin,
    async rotateAdminToken() {
      const before = version();
      const rotated = await admin.rotateAdminToken();
      // Also where another node was first.
      if (version() !== before) supervisor.watchers.end();
      return rotated;
    },
    ...instanceCommands(supervisor, (id) => chatbot.changed(id)),
    ...inspectorCommands(supervisor),
    ...connectionCommands(supervisor),
    ...messageCommands(supervisor),
    ...commands,
    ...chatbotCommands(supervisor, (id) => chatbot.changed(id)),
    ...campaignCommands(supervisor, once),
    ...chatChangeCommands(supervisor),
    ...contactCommands(supervisor),
    ...businessCommands(supervisor),
    ...groupCommands(supervisor),
    ...peopleCommands(supervisor),
    ...quickReplyCommands(supervisor),
    ...historyCommands(supervisor),
    ...channelCommands(supervisor, commands),
    ...fileCommands(supervisor),
    ...proxyCommands(supervisor),
    ...webhookCommands(supervisor),
    ...chatwootCommands(supervisor, replies),
    ...deliveryCommands(supervisor),
    ...serverCommands(supervisor, signInsOf(supervisor.cluster, kept, version)),
    get accepting() {
      return supervisor.accepting;
    },
    madeAdminToken: made,
    restore: () => supervisor.restore(),
    drain: (ms) => supervisor.drain(ms),
    stop: () => {
      numbersLog.stop();
      replies.stop();
      return supervisor.stop();
    },
  };
  return amongNodes(gateway, supervisor, { onTaken: () => replies.wake(), refresh });
}

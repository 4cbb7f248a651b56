/** The one door from HTTP to the actors: the composition of registry, instances, delivery and feed behind `Gateway`. */
import { createAdmin } from './commands/admin.ts';
import { chatChangeCommands } from './commands/chat-changes.ts';
import { chatCommands } from './commands/chats.ts';
import { contactCommands } from './commands/contacts.ts';
import { connectionCommands } from './commands/connection.ts';
import { fileCommands } from './commands/files.ts';
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
import { sendCommands } from './commands/sends.ts';
import { deliveryCommands } from './commands/deliveries.ts';
import { webhookCommands } from './commands/webhooks.ts';
import type { Gateway } from './face.ts';
import { NumbersLog } from './numbers-log.ts';
import type { Policy } from './policy/policy.ts';
import type { Ports } from './ports.ts';
import { countsOf } from './supervisor/numbers.ts';
import { Supervisor } from './supervisor.ts';

export { isExcluded } from './events/filter.ts';
export { actorEventTypes, actorSorts, origins } from './face/inspector.ts';
export { eventDescriptions } from './session/chart-descriptions.ts';
export { chartNames } from './session/watched.ts';
export type * from './face.ts';
export type * from './model.ts';
export { isWebAddress } from './web-address.ts';
export {
  allDone,
  contactScopes,
  deliveryStates,
  done,
  eventTypes,
  maskedProxy,
  mediaKinds,
  messageFilters,
  messageStatuses,
  quickReplyTypes,
  privacyValues,
  proxyModes,
  reasons,
  receiptStates,
  refuse,
  statuses,
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
export { EpochLost, FilesUnavailable, StorageBusy, StorageSlow, StorageUnavailable } from './ports.ts';

export interface GatewayInput {
  readonly ports: Ports;
  readonly policy: Policy;
  /** Address of this server as integrators see it; part of every webhook body. */
  readonly baseUrl: string;
  /** Admin token of the environment, null when it has none. */
  readonly adminToken: string | null;
}

/** The gateway as its process sees it. */
export interface RunningGateway extends Gateway {
  /** Set when this start made the admin token: to be printed once. */
  readonly madeAdminToken: string | null;
  /** Brings the sessions back; commands work meanwhile. */
  restore(): Promise<void>;
  /** Closes every session; what was accepted is stored. */
  stop(): Promise<void>;
}

/** Reads what is registered and answers with a gateway that takes commands. */
export async function createGateway({ ports, policy, baseUrl, adminToken }: GatewayInput): Promise<RunningGateway> {
  const supervisor = new Supervisor({ ports, policy, baseUrl });
  const { made, ...admin } = await createAdmin(ports, adminToken, policy.adminRotateCooldown);
  await supervisor.load();
  const numbersLog = new NumbersLog({ ...ports, every: policy.numbersEvery ?? 0, numbers: () => supervisor.numbers(false) });
  numbersLog.start();
  return {
    ...admin,
    async rotateAdminToken() {
      const rotated = await admin.rotateAdminToken();
      if (rotated.ok) supervisor.watchers.end();
      return rotated;
    },
    ...instanceCommands(supervisor),
    ...inspectorCommands(supervisor),
    ...connectionCommands(supervisor),
    ...messageCommands(supervisor),
    ...chatCommands(supervisor),
    ...chatChangeCommands(supervisor),
    ...contactCommands(supervisor),
    ...groupCommands(supervisor),
    ...leadCommands(supervisor),
    ...peopleCommands(supervisor),
    ...labelCommands(supervisor),
    ...quickReplyCommands(supervisor),
    ...historyCommands(supervisor),
    ...sendCommands(supervisor),
    ...fileCommands(supervisor),
    ...proxyCommands(supervisor),
    ...webhookCommands(supervisor),
    ...deliveryCommands(supervisor),
    authenticate: (token) => supervisor.registry.byToken(token),
    get accepting() {
      return supervisor.accepting;
    },
    ready: () => supervisor.progress,
    numbers: () => supervisor.numbers(),
    figures: () => supervisor.figures(),
    counts: () => countsOf(supervisor.registry),
    madeAdminToken: made,
    restore: () => supervisor.restore(),
    stop: () => {
      numbersLog.stop();
      return supervisor.stop();
    },
  };
}

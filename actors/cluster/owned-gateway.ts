/** The gateway of a node in a cluster. A command on an instance runs on the node that owns the instance. */
import { done, type InstanceId, type Result } from '../model.ts';
import type { Gateway } from '../views.ts';
import type { Cluster } from './cluster.ts';
import type { Command } from './commands.ts';

// The table names the node that answers each method of the gateway in a cluster. A new method does not compile without a row.
//
// `owner`: the node that owns the instance, which is the first argument. If no node owns the instance, a node takes it first. `hook`: like `owner`, but the
// first argument is the last segment of the address to which Chatwoot posts. `reader`: the owner, whose memory is newer than the database, or any node if the
// instance is unowned. `any`: the node that was asked, from the database, from its settings, or with answers of the other nodes.

type Answerer = 'owner' | 'hook' | 'reader' | 'any';

const answerers = {
  users: 'any',
  createUser: 'any',
  updateUser: 'any',
  removeUser: 'any',
  authenticateUser: 'any',
  changePassword: 'any',
  offerCode: 'any',
  confirmCode: 'any',
  removeCode: 'any',
  audit: 'any',
  auditPage: 'any',
  figureHistory: 'any',
  alerts: 'any',
  saveAlerts: 'any',
  testAlert: 'any',
  create: 'any',
  all: 'any',
  everywhere: 'any',
  proxies: 'any',
  nodes: 'any',
  nodeName: 'any',
  draining: 'any',
  drainNode: 'any',
  view: 'any',
  current: 'reader',
  connect: 'owner',
  disconnect: 'owner',
  reset: 'owner',
  hibernate: 'owner',
  passkey: 'reader',
  answerPasskey: 'owner',
  confirmPasskey: 'owner',
  cancelPasskey: 'owner',
  linkPasskey: 'owner',
  passkeyLink: 'any',
  usePasskeyLink: 'any',
  update: 'owner',
  nameLeadFields: 'owner',
  remove: 'owner',
  importSessions: 'any',
  exportSessions: 'any',
  rotateToken: 'owner',
  rotateAdminToken: 'any',
  presence: 'owner',
  send: 'owner',
  perform: 'owner',
  markRead: 'owner',
  showTyping: 'owner',
  receipts: 'any',
  findMessages: 'any',
  findChats: 'reader',
  queue: 'reader',
  deleteMessage: 'owner',
  clearQueue: 'owner',
  chat: 'owner',
  changeChat: 'owner',
  setChatTimer: 'owner',
  block: 'owner',
  reloadNotes: 'owner',
  removeChat: 'owner',
  contacts: 'any',
  saveContact: 'owner',
  removeContact: 'owner',
  labels: 'any',
  editLabel: 'owner',
  labelChat: 'owner',
  reloadLabels: 'owner',
  quickReplies: 'any',
  editQuickReply: 'owner',
  download: 'owner',
  file: 'any',
  readFile: 'any',
  listGroups: 'owner',
  setGroupPicture: 'owner',
  requestHistory: 'owner',
  histories: 'reader',
  chatStats: 'reader',
  editLead: 'owner',
  leadTags: 'any',
  editLeadTag: 'owner',
  setOwnPicture: 'owner',
  picture: 'owner',
  chatDetails: 'owner',
  checkNumbers: 'owner',
  proxy: 'any',
  changeProxy: 'owner',
  proxyCatalogue: 'any',
  authenticate: 'any',
  lookUp: 'any',
  exists: 'any',
  signIns: 'any',
  isAdmin: 'any',
  accepting: 'any',
  figures: 'any',
  clientVersion: 'any',
  numbers: 'any',
  counts: 'any',
  ready: 'any',
  refusedEntries: 'any',
  retryRefused: 'owner',
  discardRefused: 'owner',
  troubles: 'any',
  warnings: 'any',
  webhooks: 'any',
  saveWebhook: 'owner',
  webhookErrors: 'reader',
  globalWebhook: 'any',
  saveGlobalWebhook: 'any',
  globalWebhookErrors: 'any',
  deliveries: 'reader',
  delivery: 'reader',
  replay: 'any',
  testWebhook: 'any',
  subscribe: 'any',
  past: 'any',
  charts: 'any',
  chartSource: 'any',
  actors: 'any',
  actor: 'reader',
  actorPicture: 'reader',
  watchSteps: 'any',
  watchActors: 'any',
  act: 'owner',
  agents: 'any',
  editAgent: 'owner',
  triggers: 'any',
  editTrigger: 'owner',
  tryAgent: 'owner',
  endTrial: 'owner',
  chatbotUsage: 'any',
  chatwoot: 'any',
  saveChatwoot: 'owner',
  testChatwoot: 'owner',
  chatwootPosted: 'hook',
  saveProduct: 'owner',
  createChannel: 'owner',
  inviteChannelAdmin: 'owner',
  listChannels: 'owner',
  setChannelPicture: 'owner',
  createCampaign: 'owner',
  stopCampaign: 'owner',
  continueCampaign: 'owner',
  deleteCampaign: 'owner',
  clearCampaigns: 'owner',
  campaigns: 'any',
  campaignRecipients: 'any',
  campaignStats: 'reader',
  optOuts: 'any',
  changeOptOuts: 'owner',
} as const satisfies Readonly<Record<keyof Gateway, Answerer>>;

/** Commands that change data which every node caches. The node that was asked refreshes its cache before it answers. */
const remembered: ReadonlySet<string> = new Set([
  'update',
  'nameLeadFields',
  'remove',
  'rotateToken',
  'saveWebhook',
  'saveChatwoot',
] satisfies readonly (keyof typeof answerers)[]);

type Method = (subject: string, ...rest: readonly unknown[]) => Promise<unknown>;
type Args = readonly unknown[];
type Preparation = (...args: Args) => Promise<Result<Args>>;

/** Finds the instance of a command. Null means that no such instance exists, or that its owner has nothing to do. This node then answers. */
interface Subjects {
  owner(subject: string): InstanceId | null;
  hook(subject: string, body: Readonly<Record<string, unknown>>): Promise<InstanceId | null>;
}

/** Work that the receiving node does before a command travels, by method. A refusal becomes the answer to the command. */
type Preparations = Readonly<Record<string, (...args: readonly never[]) => Promise<Result<Args>>>>;

const isRouted = (answerer: Answerer): answerer is Exclude<Answerer, 'any'> => answerer !== 'any';

/**
 * Returns the functions of a command: `args` prepares the arguments for another node, and `here` runs the command on this node. The arguments are prepared
 * once, because a command may ask several nodes and then run on this node, and a URL may return its file only once. If `here` is called first, nothing is
 * prepared.
 */
const routed = (
  local: Method,
  prepare: Preparation | undefined,
  given: readonly [string, ...Args],
): Pick<Command<unknown>, 'args' | 'here'> => {
  let prepared: Promise<Result<Args>> | undefined;
  return {
    args: () => (prepared ??= Promise.resolve(prepare?.(...given) ?? done(given))),
    async here() {
      const ready = prepared === undefined ? done(given) : await prepared;
      return ready.ok ? local(...(ready.value as [string, ...Args])) : ready;
    },
  };
};

export const ownedGateway = <G extends Gateway>(gateway: G, cluster: Cluster, subjects: Subjects, preparations: Preparations): G => {
  const owned: Record<string, Method> = {};
  for (const [method, answerer] of Object.entries(answerers)) {
    if (!isRouted(answerer)) continue;
    const local = gateway[method as keyof Gateway] as unknown as Method;
    const prepare = preparations[method] as Preparation | undefined;
    owned[method] = async (subject, ...rest) => {
      const id = answerer === 'hook' ? await subjects.hook(subject, rest[0] as Readonly<Record<string, unknown>>) : subjects.owner(subject);
      if (id === null) return local(subject, ...rest);
      const command = { id, method, ...routed(local, prepare, [subject, ...rest]) };
      if (answerer === 'reader') return cluster.question(command);
      const result = await cluster.command({ ...command, here: command.here as () => Promise<Result<unknown>> });
      // A client that reads its own change from this node must see the change.
      if (remembered.has(method) && !cluster.ownership.owns(id)) await cluster.refreshed();
      return result;
    };
    cluster.handle(method, (_id, args) => local(...(args as [string, ...Args])));
  }
  // All other members, including getters, are inherited.
  return Object.setPrototypeOf(owned, gateway) as G;
};

/** Commands on the Chatwoot connector. The settings of the connector are a webhook of the instance whose deliveries become messages in an inbox. */
import { isOwnSource } from '../chatwoot/conversations.ts';
import type { Replies } from '../chatwoot/replies.ts';
import type { ChatwootMethods, ChatwootSettings } from '../views.ts';
import { KeyedMutex } from '../waiting.ts';
import {
  done,
  maskedToken,
  refuse,
  type ChatwootInbox,
  type ChatwootNews,
  type ChatwootTarget,
  type InstanceId,
  type Result,
  type Webhook,
} from '../model.ts';
import type { WithPolicy, WithPorts } from './host.ts';
import { NewIds } from './webhooks.ts';
import type { Registry } from '../supervisor/registry.ts';
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import type { Connector } from '../chatwoot/connector.ts';

/** The parts of the supervisor that these commands need. */
type Host = WithPorts<'chance' | 'chatwoot' | 'chatwootRows' | 'time' | 'webhooks'> &
  WithPolicy<'chatwoot'> & {
    readonly connector: Connector;
    readonly dispatcher: Dispatcher;
    readonly registry: Registry;
  };

type Connected = Webhook & { readonly chatwoot: ChatwootInbox };

/** Event types that create or change a message. */
const events = ['messages', 'messages_update'] as const;

/** The length of the secret last segment of the URL, in characters. With 62 letters and digits, the segment has 190 bits. */
const hookLength = 32;

const addressOf = (url: string): string => url.trim().replace(/(?<!\/)\/+$/, '');

const isToken = (text: string): boolean => /^[\x21-\x7e]{1,500}$/.test(text);

const nowhere = refuse('notFound', 'no instance has this address');

const switchedOff = refuse('conflict', 'the connector of this instance is switched off');
const otherInbox = refuse('conflict', 'the instance is connected to another inbox');

const isOfInbox = ({ accountId, inboxId }: ChatwootInbox, news: ChatwootNews): boolean =>
  news.accountId === accountId && news.inboxId === inboxId;

/**
 * Returns the change that a post of Chatwoot reports to the gateway. Most posts contain none (null), because Chatwoot posts every change of a message. Messages
 * that the gateway posted itself are ignored, but their deletion is news.
 */
export function chatwootNews({ chatwoot }: Pick<Host['ports'], 'chatwoot'>, body: Readonly<Record<string, unknown>>): ChatwootNews | null {
  const news = chatwoot.read(body);
  return news === null || (news.kind === 'message' && isOwnSource(news.sourceId)) ? null : news;
}

/** The number of former inboxes that are stored, so that waiting messages can be shown in these inboxes as failed. */
const mostFormer = 3;

const isSame = (one: ChatwootTarget, other: ChatwootTarget): boolean =>
  one.url === other.url && one.accountId === other.accountId && one.inboxId === other.inboxId;

/** Returns the former inboxes after a change of the settings. The inbox before the change comes first. The new inbox is left out. */
function formerOf(before: Webhook | null, now: ChatwootTarget): Pick<ChatwootInbox, 'former'> {
  if (!before?.chatwoot) return {};
  const { accountId, inboxId, accessToken, former = [] } = before.chatwoot;
  const last = { url: before.url, accountId, inboxId, accessToken };
  const kept = [last, ...former.filter((one) => !isSame(one, last))].filter((one) => !isSame(one, now)).slice(0, mostFormer);
  return kept.length === 0 ? {} : { former: kept };
}

/**
 * Returns the webhook of the connector; null if there is none. Its inbox is stored encrypted. If the inbox cannot be decrypted, returns the damaged webhook
 * with the same URL, so that the new settings replace it.
 */
const connectorOf = ({ dispatcher }: Host, id: InstanceId, { url }: ChatwootSettings): Webhook | null =>
  dispatcher.webhooks.chatwoot(id) ??
  dispatcher.webhooks.own(id).find((webhook) => webhook.unreadable !== undefined && webhook.url === addressOf(url)) ??
  null;

interface ConnectorTarget {
  /** The current connector, or null. */
  readonly before: Webhook | null;
  /** The id of a new connector. */
  readonly newId: string;
}

/** Returns the connector after the change, or a refusal of invalid settings. */
function planned({ ports }: Host, id: InstanceId, { before, newId }: ConnectorTarget, wished: ChatwootSettings): Result<Connected> {
  const { enabled, url, accessToken, ...settings } = wished;
  const address = addressOf(url);
  const objection = ports.chatwoot.objection(address);
  if (objection !== null) return refuse('invalid', objection);
  const token = accessToken === maskedToken ? (before?.chatwoot?.accessToken ?? '') : accessToken;
  if (!isToken(token)) return refuse('invalid', 'access_token is not an access token of Chatwoot');
  // A stored token may be sent only to the server for which it was given.
  if (accessToken === maskedToken && before?.url !== address) return refuse('invalid', 'access_token is required for another url');
  return done({
    id: before?.id ?? newId,
    instanceId: id,
    enabled,
    url: address,
    events,
    excludeMessages: settings.ignoreGroups ? ['isGroupYes'] : [],
    addUrlEvents: false,
    addUrlTypesMessages: false,
    managed: false,
    secret: '',
    headers: {},
    created: before?.created ?? ports.time.now(),
    chatwoot: {
      ...settings,
      accessToken: token,
      hook: before?.chatwoot?.hook ?? ports.chance.token(hookLength),
      ...formerOf(before, { ...settings, url: address, accessToken: token }),
    },
  });
}

export function chatwootCommands(host: Host, replies: Pick<Replies, 'wake'>): ChatwootMethods {
  const { ports, dispatcher, registry } = host;
  /** The mutex allows one change at a time for each instance, because two concurrent changes could create two connectors. */
  const mutex = new KeyedMutex();
  const newIds = new NewIds();
  const targetOf = (id: InstanceId, settings: ChatwootSettings): ConnectorTarget => ({
    before: connectorOf(host, id, settings),
    newId: newIds.next(id, host),
  });

  const save = async (id: InstanceId, settings: ChatwootSettings): Promise<Result<{ readonly hookUrl: string }>> => {
    // The epoch is read before the check. If another node takes the instance while a slow Chatwoot server answers, the write is refused.
    const epoch = registry.record(id)?.epoch ?? 0;
    const target = targetOf(id, settings);
    const plan = planned(host, id, target, settings);
    if (!plan.ok) return plan;
    const { url, enabled, chatwoot } = plan.value;
    const found = enabled ? await ports.chatwoot.check({ ...chatwoot, url }) : null;
    if (found?.ok === false) return refuse('invalid', found.error);
    const store = async (): Promise<Result<null>> => {
      await ports.webhooks.save(plan.value, epoch);
      dispatcher.set(plan.value);
      return done(null);
    };
    await (target.before === null ? newIds.use(id, target.newId, store) : store());
    replies.wake();
    return done({ hookUrl: `${dispatcher.sender(id).baseUrl}/chatwoot/webhook/${chatwoot.hook}` });
  };

  return {
    chatwoot(id) {
      const webhook = dispatcher.webhooks.chatwoot(id);
      if (!webhook?.chatwoot) return null;
      const { hook: _hook, former: _former, ...settings } = webhook.chatwoot;
      return { ...settings, accessToken: maskedToken, enabled: webhook.enabled, url: webhook.url };
    },
    saveChatwoot: (id, settings) => mutex.run(id, () => save(id, settings)),
    async testChatwoot(id, settings) {
      const plan = planned(host, id, targetOf(id, settings), settings);
      if (!plan.ok) return plan;
      const begun = ports.time.monotonic();
      const found = await ports.chatwoot.check({ ...plan.value.chatwoot, url: plan.value.url });
      return done({ error: found.ok ? '' : found.error, ms: Math.round(ports.time.monotonic() - begun) });
    },
    async chatwootPosted(hook, body) {
      const webhook = dispatcher.webhooks.hooked(hook);
      if (!webhook?.chatwoot || webhook.instanceId === null) return nowhere;
      const news = chatwootNews(ports, body);
      const at = host.connector.inboxOf(webhook, webhook.instanceId);
      if (!at || !news) return done(null);
      if (!isOfInbox(webhook.chatwoot, news)) return otherInbox;
      if (!webhook.enabled) return switchedOff;
      const isTaken = await ports.chatwootRows.addReply(at.claim, at.inbox, news, ports.time.now(), host.policy.chatwoot.waiting);
      if (!isTaken) return refuse('limited', 'too many messages of agents wait to be sent', { retryAfter: 60 });
      replies.wake();
      return done(null);
    },
  };
}

/** Reads the query of one subscriber of the stream and makes a filter of it. */
import { type GatewayEvent, isExcluded, type MessageFilter, messageFilters, type Result, streamTypes } from '#actors/gateway.ts';
import { commaList } from '../comma-list.ts';
import { done, refuse } from '../outcome.ts';

const known: ReadonlySet<string> = new Set(streamTypes);

export interface Subscription {
  readonly types: ReadonlySet<string>;
  readonly filters: readonly MessageFilter[];
  /** Message types in lower case. */
  readonly kinds: ReadonlySet<string>;
}

type Names = string | readonly string[] | undefined;

/** Comma-separated and repeated parameters mean the same. */
const namesOf = (value: Names = []): readonly string[] => [value].flat().flatMap(commaList);

const isFilter = (name: string): name is MessageFilter => (messageFilters as readonly string[]).includes(name);

export const subscriptionOf = (events: Names, excludeMessages: Names): Result<Subscription> => {
  const types = namesOf(events);
  if (types.length === 0) return refuse('invalid', 'events is required');
  const unknown = types.find((name) => !known.has(name));
  if (unknown !== undefined) return refuse('invalid', `events must be some of ${streamTypes.join(', ')}; ${unknown.slice(0, 64)} is not`);
  const excluded = namesOf(excludeMessages);
  const kinds = excluded.filter((name) => !isFilter(name)).map((name) => name.toLowerCase());
  return done({ types: new Set(types), filters: excluded.filter(isFilter), kinds: new Set(kinds) });
};

/** A message goes by three names: `poll` (type), `image` (media type) and `PollCreationMessageV3` (message type). */
const kindNames = ['type', 'mediaType', 'messageType'] as const;

const isExcludedKind = (kinds: Subscription['kinds'], { messageType, payload }: GatewayEvent): boolean => {
  const message = (payload['message'] ?? {}) as Readonly<Record<string, unknown>>;
  return kinds.has(messageType.toLowerCase()) || kindNames.some((name) => kinds.has(String(message[name] ?? '').toLowerCase()));
};

export const wants = ({ types, filters, kinds }: Subscription, event: GatewayEvent): boolean => {
  if (!types.has(event.type)) return false;
  if (event.type !== 'messages') return true;
  if (isExcluded(filters, event.message)) return false;
  return kinds.size === 0 || !isExcludedKind(kinds, event);
};

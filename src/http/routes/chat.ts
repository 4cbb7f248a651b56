/** Routes of chats and leads, with the query language of `/chat/find`. */
import type { ChatFilter, ChatQuery, Result } from '#actors/gateway.ts';
import {
  type ChatField,
  chatFields,
  chatStatsView,
  chatView,
  compactChatView,
  emptyValueOf,
  type FieldType,
  instanceView,
  leadFields,
  type LeadWish,
  leadTagView,
} from '#src/contract/views.ts';
import { pageSize, pageWithin, withPage } from '../answers.ts';
import { done, instanceRefusals, mapResult, refuse, type Route, route } from '../route.ts';
import {
  Chat,
  ChatCounts,
  chatPageSize,
  ChatsAnswer,
  compactPageSize,
  EditLeadBody,
  EditLeadTagAnswer,
  EditLeadTagBody,
  FieldsMapBody,
  FindChatsBody,
  leadFieldNames,
  LeadTagsAnswer,
} from '../schemas/chat.ts';
import { numberExample, ref } from '../schemas/common.ts';
import { InstanceAnswer } from '../schemas/instance.ts';

type Body = Readonly<Record<string, string | number | boolean | undefined>>;
type Operator = ChatFilter['operator'];

/** Operators of two characters come first, because `>=` begins with `>`. */
const prefixes: readonly Operator[] = ['!~', '!=', '>=', '<=', '~', '=', '>', '<'];

/** The fields of filters: those of a chat, and two fields that the view derives from other fields. Storage derives both fields for filters too. */
const filterable: Readonly<Record<string, ChatField>> = {
  ...chatFields,
  wa_fastid: { type: 'text', key: null },
  owner: { type: 'text', key: null },
};

/**
 * The operators of a filter that names none, by the type of the field. A text must contain the value, a list must have it as an entry, and any
 * other field must equal it.
 */
const usualOperator: Readonly<Record<FieldType, Operator>> = { text: '~', list: '=', number: '=', boolean: '=' };

const allowed: Readonly<Record<FieldType, readonly Operator[]>> = {
  text: prefixes,
  list: ['~', '!~', '=', '!='],
  number: ['=', '!=', '>=', '<=', '>', '<'],
  boolean: ['=', '!='],
};

const flags: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false };

/** Returns the value in the type of the field; null if it does not fit. */
const valueOf = (type: FieldType, text: string): string | number | boolean | null => {
  if (type === 'boolean') return flags[text.trim().toLowerCase()] ?? null;
  if (type !== 'number') return text;
  const number = Number(text);
  return text.trim() === '' || !Number.isSafeInteger(number) ? null : number;
};

const filterOf = (field: string, { type }: ChatField, raw: string): Result<ChatFilter> => {
  const prefix = prefixes.find((candidate) => raw.startsWith(candidate));
  const operator = prefix ?? usualOperator[type];
  const value = valueOf(type, raw.slice(prefix?.length ?? 0));
  if (!allowed[type].includes(operator)) return refuse('invalid', `${field} cannot be compared by ${operator}`);
  if (value === null) return refuse('invalid', `${field} must be ${type === 'number' ? 'a whole number' : 'true or false'}`);
  return done({ field, operator, value });
};

/** Largest number of filters in a search, as documented. Each filter is compared with every chat of the instance. */
const mostFilters = 18;

/** Reads the filters of a body. Unknown fields are ignored. An empty text does not filter. */
const filtersOf = (body: Body): Result<readonly ChatFilter[]> => {
  const filters: ChatFilter[] = [];
  for (const [name, raw] of Object.entries(body)) {
    if (raw === undefined || raw === '') continue;
    if (name === 'lead_tag') filters.push({ field: 'lead_tags', operator: '=', value: String(raw) });
    const field = Object.hasOwn(filterable, name) ? filterable[name] : undefined;
    if (field === undefined) continue;
    const filter = filterOf(name, field, String(raw));
    if (!filter.ok) return filter;
    filters.push(filter.value);
  }
  if (filters.length > mostFilters) return refuse('invalid', `at most ${mostFilters} filters are taken, these are ${filters.length}`);
  return done(filters);
};

const sortOf = (sort: string): Result<ChatQuery['sort']> => {
  if (sort === '') return done(null);
  const descending = sort.startsWith('-');
  const field = sort.replace(/^[-+]/, '');
  if (!Object.hasOwn(filterable, field) || filterable[field]?.type === 'list') {
    return refuse('invalid', 'sort must be a field of the chat, with a minus before it for descending order');
  }
  return done({ field, descending });
};

export const chatQueryOf = (body: Body): Result<ChatQuery> => {
  const filters = filtersOf(body);
  if (!filters.ok) return filters;
  const sort = sortOf(String(body['sort'] ?? '').trim());
  if (!sort.ok) return sort;
  return done({
    filters: filters.value,
    any: String(body['operator'] ?? 'AND').toUpperCase() === 'OR',
    sort: sort.value,
    limit: pageSize(Number(body['limit'] ?? 0), body['compact'] === true ? compactPageSize : chatPageSize),
    offset: Number(body['offset'] ?? 0),
  });
};

export const chatRoutes: readonly Route[] = [
  route({
    on: ['GET /chat/totalcount'],
    operationId: 'countChats',
    credential: 'instance',
    tag: 'chat',
    summary: 'Count the chats: all of them, by kind, by label and by attendant',
    answer: ChatCounts,
    run: async ({ gateway, id }) => done(chatStatsView(await gateway.chatStats(id))),
  }),
  route({
    on: ['POST /chat/find'],
    operationId: 'findChats',
    credential: 'instance',
    tag: 'chat',
    summary: 'Find chats; any field of a chat is a filter',
    body: FindChatsBody,
    examples: { body: { compact: true, sort: '-wa_lastMsgTimestamp', limit: 20 } },
    answer: ChatsAnswer,
    run: async ({ gateway, answerBytes, id, body }) => {
      const query = chatQueryOf(body);
      if (!query.ok) return query;
      const { limit, offset } = query.value;
      const { chats, total, stats } = await gateway.findChats(id, query.value);
      const owner = gateway.view(id)?.record.owner ?? '';
      const view = body['compact'] === true ? compactChatView : chatView;
      const page = pageWithin(chats, (chat) => view(chat, owner), answerBytes);
      const nextOffset = offset + page.views.length;
      return done(
        withPage('chats', page, {
          totalChatsStats: chatStatsView(stats),
          pagination: { totalRecords: total, limit, offset, nextOffset, hasMore: nextOffset < total },
        }),
      );
    },
  }),
];

// Leads: notes of integrators about a chat. The platform does not get them.

/** Returns the value to store; null for an empty value, which removes the field. */
const kept = (name: string, value: unknown): unknown => {
  const field = chatFields[name];
  if (Array.isArray(value)) {
    const entries = [...new Set(value.map((one) => String(one).trim()))].filter((one) => one !== '');
    return entries.length === 0 ? null : entries;
  }
  return field === undefined || value === emptyValueOf(field) ? null : value;
};

const changesOf = (wish: LeadWish): Readonly<Record<string, unknown>> =>
  Object.fromEntries(leadFields.flatMap((name) => (wish[name] === undefined ? [] : [[name, kept(name, wish[name])]])));

export const leadRoutes: readonly Route[] = [
  route({
    on: ['POST /chat/editLead'],
    operationId: 'editLead',
    credential: 'instance',
    tag: 'lead',
    summary: 'Change the lead fields of a chat; fields that are not given stay as they are',
    body: EditLeadBody,
    chatIdFields: ['id'],
    examples: { body: { id: numberExample, lead_name: 'Ana', lead_tags: ['vip'] } },
    answer: ref(Chat),
    refusals: { notFound: { example: 'Chat not found' } },
    run: async ({ gateway, id, body }) => {
      const owner = gateway.view(id)?.record.owner ?? '';
      return mapResult(await gateway.editLead(id, String(body.id), changesOf(body)), (chat) => chatView(chat, owner));
    },
  }),
  route({
    on: ['POST /instance/updateFieldsMap'],
    operationId: 'nameLeadFields',
    credential: 'instance',
    tag: 'lead',
    summary: 'Name the twenty free fields of leads; names that are not given stay as they are',
    body: FieldsMapBody,
    examples: { body: { lead_field01: 'Size of shoes' } },
    answer: InstanceAnswer,
    refusals: instanceRefusals,
    run: async ({ gateway, now, id, body }) =>
      mapResult(await gateway.nameLeadFields(id, leadFieldNames(body)), (view) => instanceView(view, now)),
  }),
  route({
    on: ['GET /lead/tags'],
    operationId: 'listLeadTags',
    credential: 'instance',
    tag: 'lead',
    summary: 'List the tags that leads may have, columns of the board first',
    answer: LeadTagsAnswer,
    run: async ({ gateway, id }) => {
      const owner = gateway.view(id)?.record.owner ?? '';
      return done((await gateway.leadTags(id)).map((tag) => leadTagView(tag, owner)));
    },
  }),
  route({
    on: ['POST /lead/tags/edit'],
    operationId: 'editLeadTag',
    credential: 'instance',
    tag: 'lead',
    summary: 'Make, change or delete a tag of leads, or a column of the board',
    body: EditLeadTagBody,
    examples: { body: { name: 'vip' } },
    answer: EditLeadTagAnswer,
    refusals: {
      invalid: { example: 'name is required' },
      notFound: { example: 'Tag not found' },
      conflict: { example: 'there is a tag vip already' },
      limited: { example: 'an instance has at most 1000 tags' },
    },
    run: async ({ gateway, id, body }) => {
      const { id: tag = '', name, delete: gone = false, ...rest } = body;
      const owner = gateway.view(id)?.record.owner ?? '';
      const edit = { ...rest, id: tag, ...(name === undefined ? {} : { name: name.trim() }), delete: gone };
      const response = gone ? 'Tag deleted' : tag === '' ? 'Tag created' : 'Tag edited';
      return mapResult(await gateway.editLeadTag(id, edit), (tags) => ({ response, tags: tags.map((one) => leadTagView(one, owner)) }));
    },
  }),
];

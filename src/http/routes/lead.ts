/** Leads: what integrators keep about a chat. Nothing of it leaves this server. */
import { chatFields, chatView, emptyValueOf, instanceView, leadFields, leadTagView } from '#src/contract/views.ts';
import { done, instanceRefusals, mapResult, type Route, route } from '../route.ts';
import { Chat, EditLeadBody, EditLeadTagAnswer, EditLeadTagBody, FieldsMapBody, LeadTagsAnswer, namesOf } from '../schemas/chat.ts';
import { numberExample, ref } from '../schemas/common.ts';
import { InstanceAnswer } from '../schemas/instance.ts';

/** An empty value is not kept: the field goes. */
const kept = (name: string, value: unknown): unknown => {
  const field = chatFields[name];
  if (Array.isArray(value)) {
    const entries = [...new Set(value.map((one) => String(one).trim()))].filter((one) => one !== '');
    return entries.length === 0 ? null : entries;
  }
  return field === undefined || value === emptyValueOf(field) ? null : value;
};

const changesOf = (body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(leadFields.flatMap((name) => (body[name] === undefined ? [] : [[name, kept(name, body[name])]])));

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
      mapResult(await gateway.nameLeadFields(id, namesOf(body)), (view) => instanceView(view, now)),
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

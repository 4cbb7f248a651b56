/** Leads: what integrators keep about a chat. Nothing of it leaves this server. */
import { chatFields, chatView, emptyValueOf, instanceView, leadFields } from '#src/contract/views.ts';
import { mapResult } from '../outcome.ts';
import { type Route, route } from '../route.ts';
import { Chat } from '../schemas/chat.ts';
import { ref } from '../schemas/common.ts';
import { InstanceAnswer } from '../schemas/instance.ts';
import { EditLeadBody, FieldsMapBody, namesOf } from '../schemas/lead.ts';

const unknownInstance = { notFound: { example: 'instance not found' } } as const;

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

/** Names that are given change, empty ones go; null when none is left. */
const mergedNames = (known: Readonly<Record<string, unknown>> | null, given: Readonly<Record<string, string>>) => {
  const names = Object.entries({ ...known, ...given }).filter(([, name]) => name !== '');
  return names.length === 0 ? null : Object.fromEntries(names);
};

export const leadRoutes: readonly Route[] = [
  route({
    on: ['POST /chat/editLead'],
    operationId: 'editLead',
    credential: 'instance',
    tag: 'lead',
    summary: 'Change the lead fields of a chat; fields that are not given stay as they are',
    body: EditLeadBody,
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
    answer: InstanceAnswer,
    refusals: unknownInstance,
    run: async ({ gateway, now, id, body }) => {
      const fieldsMap = mergedNames(gateway.view(id)?.record.fieldsMap ?? null, namesOf(body));
      return mapResult(await gateway.update(id, { fieldsMap }), (view) => instanceView(view, now));
    },
  }),
];

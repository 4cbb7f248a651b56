/** Labels and quick replies. */
import type { LabelChange, Result } from '#actors/gateway.ts';
import { givenLabelId, keptLabelView, quickReplyView } from '#src/contract/views.ts';
import { done, mapResult, platformRefusals, refuse, type Route, route } from '../route.ts';
import * as shape from '../schemas/definition.ts';

const common = { credential: 'instance', tag: 'label' } as const;

const badLabel = refuse('invalid', 'a label is named by its id, of 1 to 9 digits, or by <owner>:<id> of this account');

/** Returns the change of the labels of a chat. Exactly one of the three fields must be given. */
const changeOf = ({ labelids, add_labelid, remove_labelid }: Readonly<Record<string, unknown>>, owner: string): Result<LabelChange> => {
  const given: readonly [LabelChange['kind'], unknown][] = [
    ['set', labelids],
    ['add', add_labelid],
    ['remove', remove_labelid],
  ];
  const [only, ...others] = given.filter(([, ids]) => ids !== undefined && ids !== '');
  if (!only || others.length > 0) return refuse('invalid', 'one of labelids, add_labelid and remove_labelid is required, and no other');
  const ids = [only[1]].flat().map((id) => givenLabelId(String(id).trim(), owner));
  return ids.includes(null) ? badLabel : done({ kind: only[0], labelIds: ids.filter((id) => id !== null) });
};

const labelRoutes: readonly Route[] = [
  route({
    on: ['GET /labels'],
    operationId: 'listLabels',
    ...common,
    summary: 'List the labels of the account',
    answer: shape.LabelsAnswer,
    failure: { text: 'Failed to fetch labels from database' },
    run: async ({ gateway, id }) => {
      const owner = gateway.view(id)?.record.owner ?? '';
      return done((await gateway.labels(id)).map((label) => keptLabelView(label, owner)));
    },
  }),
  route({
    on: ['POST /label/edit'],
    operationId: 'editLabel',
    ...common,
    summary: 'Make, change or delete a label, also on the phone. Only business accounts have labels',
    body: shape.EditLabelBody,
    examples: { body: { labelid: 'new', name: 'VIP', color: 3 } },
    answer: shape.EditLabelAnswer,
    invalidTexts: { 'labelid:required': 'invalid payload' },
    failure: { text: 'error editing label' },
    refusals: {
      ...platformRefusals,
      invalid: { example: 'name is required' },
      notFound: { example: 'Label not found' },
      conflict: { example: 'the account has no free id for a label' },
    },
    run: async ({ gateway, id, body }) => {
      const { labelid, name, color, delete: gone = false } = body;
      const given = String(labelid).trim();
      const labelId = given === 'new' || given === '' ? '' : givenLabelId(given, gateway.view(id)?.record.owner ?? '');
      if (labelId === null) return badLabel;
      const edit = {
        labelId,
        ...(name === undefined ? {} : { name: name.trim() }),
        ...(color === undefined ? {} : { color }),
        delete: gone,
      };
      return mapResult(await gateway.editLabel(id, edit), ({ label, made }) => ({
        response: made ? ('Label created' as const) : ('Label edited' as const),
        labelid: label.id,
      }));
    },
  }),
  route({
    on: ['POST /labels/refresh'],
    operationId: 'reloadLabels',
    ...common,
    summary: 'Query the labels from the platform again. Changes arrive as labels and chat_labels events',
    body: shape.ReloadLabelsBody,
    status: 202,
    answer: shape.ReloadLabelsAnswer,
    failure: { text: 'failed to reload labels from WhatsApp' },
    refusals: { ...platformRefusals, conflict: { example: 'history sync still in progress, try again in a moment' } },
    run: async ({ gateway, id, body }) => {
      const { force = false } = body;
      return mapResult(await gateway.reloadLabels(id, force), (state) => ({
        success: true,
        status: state === 'started' ? ('started' as const) : ('in_progress' as const),
        message: state === 'started' ? 'Labels are being read again' : 'Labels are already being read again',
        force,
        fullSync: force,
      }));
    },
  }),
  route({
    on: ['POST /chat/labels'],
    operationId: 'labelChat',
    ...common,
    summary: 'Set the labels of a chat, put one on or take one off, on the phone too',
    body: shape.LabelChatBody,
    examples: { body: { number: '5511999999999', labelids: ['1', '3'] } },
    answer: shape.LabelChatAnswer,
    refusals: { ...platformRefusals, invalid: { example: 'there is no label 99' }, notFound: { example: 'Chat not found' } },
    run: async ({ gateway, id, body }) => {
      const change = changeOf(body, gateway.view(id)?.record.owner ?? '');
      if (!change.ok) return change;
      return mapResult(await gateway.labelChat(id, String(body.number), change.value), ({ added, removed }) => ({
        response: 'Labels updated',
        editions: [...added.map((label) => `label ${label} added`), ...removed.map((label) => `label ${label} removed`)],
      }));
    },
  }),
];

const quickReplyRoutes: readonly Route[] = [
  route({
    on: ['GET /quickreply/showall'],
    operationId: 'listQuickReplies',
    ...common,
    summary: 'List the quick replies, those of the phone and those that are kept here',
    answer: shape.QuickRepliesAnswer,
    run: async ({ gateway, id }) => {
      const owner = gateway.view(id)?.record.owner ?? '';
      return done((await gateway.quickReplies(id)).map((reply) => quickReplyView(reply, owner)));
    },
  }),
  route({
    on: ['POST /quickreply/edit'],
    operationId: 'editQuickReply',
    ...common,
    summary: 'Make, change or delete a quick reply. Texts of business accounts are stored on the phone, all others on this server',
    body: shape.EditQuickReplyBody,
    examples: { body: { shortCut: 'hello', type: 'text', text: 'Hello, how can we help?' } },
    answer: shape.EditQuickReplyAnswer,
    refusals: {
      ...platformRefusals,
      invalid: { example: 'text is required' },
      notFound: { example: 'Quick reply not found' },
      conflict: { example: 'there is a quick reply hello already' },
      limited: { example: 'an instance has at most 1000 quick replies of its own' },
      notSupported: { status: 403, example: 'quick replies on the phone are a feature of business accounts' },
    },
    run: async ({ gateway, id, body }) => {
      const { id: given = '', shortCut, type, text = '', file = '', docName = '', delete: gone = false, onWhatsApp } = body;
      const reply = String(given).trim();
      // People type a slash before a shortcut. The slash does not belong to the shortcut.
      const shortcut = shortCut.trim().replace(/^\//, '');
      const place = onWhatsApp === undefined ? {} : { onPhone: onWhatsApp };
      const edit = { id: reply, delete: gone, shortcut, type, text, file: file.trim(), docName, ...place };
      const message = gone ? 'Quick reply deleted' : reply === '' ? 'Quick reply created' : 'Quick reply edited';
      const owner = gateway.view(id)?.record.owner ?? '';
      return mapResult(await gateway.editQuickReply(id, edit), (replies) => ({
        message,
        quickReplies: replies.map((one) => quickReplyView(one, owner)),
      }));
    },
  }),
];

export const definitionRoutes: readonly Route[] = [...labelRoutes, ...quickReplyRoutes];

/** Routes for settings that a phone shares with its linked devices. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { type TProperties, Type } from 'typebox';
import type { Sandbox, Setting, SettingsView, ShownMessage } from '../../interface.ts';
import { answers, Digits, Done, done, MessageId, Name, NumberParams, Recipient } from '../contents.ts';

const tags = ['phones'];

const Chat = { chat: Recipient };
const On = { on: Type.Boolean() };
const LabelId = { labelId: Type.String({ minLength: 1, maxLength: 20, description: 'the id of a label' }) };

/** The fields of each kind of setting. The compiler reports a kind of the `Sandbox` interface that this record lacks. */
const settingFields: Readonly<Record<Setting['kind'], TProperties>> = {
  label: {
    ...LabelId,
    name: Name,
    color: Type.Integer({ minimum: 0, maximum: 19, description: 'a colour of 0 to 19' }),
    deleted: Type.Optional(Type.Boolean()),
  },
  chatLabel: { ...LabelId, ...Chat, ...On },
  messageLabel: { ...LabelId, ...Chat, messageId: MessageId, ...On },
  labelOrder: { labelIds: Type.Array(LabelId.labelId, { maxItems: 100, description: 'a list of ids of labels' }) },
  archive: { ...Chat, ...On },
  pin: { ...Chat, ...On },
  read: { ...Chat, ...On },
  lock: { ...Chat, ...On },
  mute: { ...Chat, until: Type.Integer({ minimum: -1, description: 'Unix time in milliseconds; 0 ends it, -1 is for ever' }) },
  clear: { ...Chat, keepStarred: Type.Optional(Type.Boolean()) },
  delete: Chat,
  star: { ...Chat, messageId: MessageId, ...On },
  deleteForMe: { ...Chat, messageId: MessageId },
  contact: { number: Digits, name: Type.Optional(Name) },
  quickReply: {
    id: Type.String({ minLength: 1, maxLength: 60, description: 'the id of a quick reply' }),
    shortcut: Type.String({ maxLength: 100 }),
    message: Type.String({ maxLength: 65_536 }),
    deleted: Type.Optional(Type.Boolean()),
  },
  note: { ...Chat, text: Type.String({ maxLength: 5000, description: 'a text of at most 5000 characters' }) },
  favorites: { chats: Type.Array(Recipient, { maxItems: 100, description: 'a list of numbers and jids of groups' }) },
  statusMute: { number: Digits, ...On },
  pushName: { name: Name },
  locale: { locale: Type.String({ minLength: 2, maxLength: 20, description: 'a locale such as pt_BR' }) },
};

const SettingBody = Type.Unsafe<Setting>({
  type: 'object',
  required: ['kind'],
  discriminator: { propertyName: 'kind' },
  oneOf: Object.entries(settingFields).map(([kind, fields]) =>
    Type.Object({ kind: Type.Literal(kind), ...fields }, { additionalProperties: false, title: kind }),
  ),
});

const View = Type.Unsafe<SettingsView>(
  Type.Object({}, { additionalProperties: true, description: 'Chats, messages, labels, contacts, quick replies as the phone shows them' }),
);

export const settings: FastifyPluginAsyncTypebox<{ sandbox: Sandbox }> = async (app, { sandbox }) => {
  app.post(
    '/phones/:number/settings',
    {
      schema: {
        tags,
        summary:
          'The owner changes a setting that the phone shares with its linked devices: chats, messages, labels, contacts, quick replies',
        params: NumberParams,
        body: SettingBody,
        response: answers(Done),
      },
    },
    async ({ params: { number }, body }) => sandbox.change(number, body).then(() => done),
  );

  app.get(
    '/phones/:number/settings',
    {
      schema: {
        tags,
        summary:
          'The settings that the phone shares with its linked devices; `ignored` are records of clients that the phone makes nothing of',
        params: NumberParams,
        response: answers(View),
      },
    },
    async ({ params: { number } }) => sandbox.settings(number),
  );
};

// The route for the messages that a phone shows in a chat.

const contactTags = ['contacts'];

const Shown = Type.Unsafe<readonly ShownMessage[]>(
  Type.Array(
    Type.Object({
      id: Type.String(),
      from: Type.String(),
      text: Type.String(),
      edited: Type.Boolean(),
      deleted: Type.Boolean(),
      reactions: Type.Record(Type.String(), Type.String(), { description: 'Emojis by number' }),
      pinnedUntil: Type.Number({ description: 'Unix time in milliseconds, 0 when it is not pinned' }),
      kept: Type.Boolean(),
      read: Type.Boolean({ description: 'On this phone or by a linked device' }),
    }),
  ),
);

export const shown: FastifyPluginAsyncTypebox<{ sandbox: Sandbox }> = async (app, { sandbox }) => {
  app.get(
    '/contacts/:number/shown',
    {
      schema: {
        tags: contactTags,
        summary: 'A chat as the phone of a person shows it, oldest first: edits, deletions, reactions and pins are applied',
        params: NumberParams,
        querystring: Type.Object({ chat: Recipient }),
        response: answers(Shown),
      },
    },
    async ({ params: { number }, query }) => sandbox.shown(number, query.chat),
  );
};

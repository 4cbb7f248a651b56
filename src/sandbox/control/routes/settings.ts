/** Routes for settings that a phone shares with its linked devices. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { type TProperties, Type } from 'typebox';
import type { Sandbox, Setting } from '../../face.ts';
import { answers, Digits, Done, done, Name, NumberParams, Recipient } from '../schemas.ts';

const tags = ['phones'];

const Chat = { chat: Recipient };
const On = { on: Type.Boolean() };
const LabelId = { labelId: Type.String({ minLength: 1, maxLength: 20, description: 'the id of a label' }) };

/** A record instead of a list: the compiler reports a kind of the face that is missing here. */
const settingFields: Readonly<Record<Setting['kind'], TProperties>> = {
  label: {
    ...LabelId,
    name: Name,
    color: Type.Integer({ minimum: 0, maximum: 19, description: 'a colour of 0 to 19' }),
    deleted: Type.Optional(Type.Boolean()),
  },
  chatLabel: { ...LabelId, ...Chat, ...On },
  archive: { ...Chat, ...On },
  pin: { ...Chat, ...On },
  read: { ...Chat, ...On },
  mute: { ...Chat, until: Type.Integer({ minimum: 0, description: 'Unix time in milliseconds; 0 ends it' }) },
  contact: { number: Digits, name: Type.Optional(Name) },
};

const SettingBody = Type.Unsafe<Setting>({
  type: 'object',
  required: ['kind'],
  discriminator: { propertyName: 'kind' },
  oneOf: Object.entries(settingFields).map(([kind, fields]) =>
    Type.Object({ kind: Type.Literal(kind), ...fields }, { additionalProperties: false, title: kind }),
  ),
});

export const settings: FastifyPluginAsyncTypebox<{ sandbox: Sandbox }> = async (app, { sandbox }) => {
  app.post(
    '/phones/:number/settings',
    {
      schema: {
        tags,
        summary:
          'The owner changes a setting that the phone shares with its linked devices: labels, chats (archive, pin, read, mute), contacts',
        params: NumberParams,
        body: SettingBody,
        response: answers(Done),
      },
    },
    async ({ params: { number }, body }) => sandbox.change(number, body).then(() => done),
  );
};

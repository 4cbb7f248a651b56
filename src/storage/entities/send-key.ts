/** The table of the keys under which sends are repeated. */
import { defineEntity, p } from '@mikro-orm/core';
import { time } from './instance.ts';

/** `hash` and `request` are digests; `answer` is null while nobody knows what became of the message. */
export const SendKeyEntity = defineEntity({
  name: 'SendKey',
  tableName: 'send_key',
  properties: {
    /** Without a foreign key, as messages are. */
    instanceId: p.text().primary(),
    hash: p.text().primary(),
    request: p.text(),
    messageId: p.text(),
    at: time(),
    answer: p.json<unknown>().nullable(),
  },
  indexes: [{ name: 'send_key_at', properties: ['at'] }],
});

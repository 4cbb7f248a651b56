/** The table of numbers that the platform was asked about. */
import { defineEntity, p } from '@mikro-orm/core';
import { time } from './instance.ts';

/** `form`: the chat's id as the number was written; `chatId`: that of the account, '' when there is none. */
export const NumberLookupEntity = defineEntity({
  name: 'NumberLookup',
  tableName: 'number_lookup',
  properties: {
    /** Without a foreign key, as messages are. */
    instanceId: p.text().primary(),
    form: p.text().primary(),
    chatId: p.text(),
    businessName: p.text().default(''),
    at: time(),
  },
  indexes: [{ name: 'number_lookup_at', properties: ['at'] }],
});

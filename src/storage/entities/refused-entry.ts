/** The table of entries that the database refused for their data. */
import { defineEntity, p } from '@mikro-orm/core';
import { time } from './instance.ts';

/** `id` grows with time. `sealed` is the entry, which may hold message texts. */
export const RefusedEntryEntity = defineEntity({
  name: 'RefusedEntry',
  tableName: 'refused_entry',
  properties: {
    /** Without a foreign key, as messages are. */
    instanceId: p.text().primary(),
    id: p.text().primary(),
    kind: p.text(),
    error: p.text(),
    tries: p.integer(),
    at: time(),
    sealed: p.blob(),
  },
});

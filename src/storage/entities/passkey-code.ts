/** The table of one-time codes for passkeys. */
import { defineEntity, p } from '@mikro-orm/core';
import { ofInstance, time } from './instance.ts';

export const PasskeyCodeEntity = defineEntity({
  name: 'PasskeyCode',
  tableName: 'passkey_code',
  properties: {
    instance: ofInstance().primary(),
    /** A hash of the code, or of the ticket that took its place. */
    hash: p.text().unique(),
    /** The code was used. The row stands for its ticket. */
    used: p.boolean(),
    /** Expiry by the database's clock. */
    until: time(),
  },
});

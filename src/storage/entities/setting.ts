/** The table of server-wide values. */
import { defineEntity, p } from '@mikro-orm/core';

export const SettingEntity = defineEntity({
  name: 'Setting',
  tableName: 'setting',
  properties: { name: p.text().primary(), value: p.text() },
});

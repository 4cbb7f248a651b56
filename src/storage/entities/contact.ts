/** The table of contacts. */
import { defineEntity, p } from '@mikro-orm/core';

/** Without a foreign key, as chats are. */
export const ContactEntity = defineEntity({
  name: 'Contact',
  tableName: 'contact',
  properties: {
    instanceId: p.text().primary(),
    contactId: p.text().primary(),
    lid: p.text(),
    name: p.text(),
    pushName: p.text(),
  },
  indexes: [
    {
      name: 'contact_by_name',
      expression: `create index "contact_by_name" on "contact" ("instance_id", "name", "contact_id") where name <> ''`,
    },
  ],
});

/** The table of files: who keeps which bytes, and under which public name. */
import { defineEntity, p } from '@mikro-orm/core';
import { ofInstance, time } from './instance.ts';

/** One row for an instance and its bytes. */
export const FileEntity = defineEntity({
  name: 'File',
  tableName: 'file',
  properties: {
    name: p.text().primary(),
    instance: () => ofInstance(),
    hash: p.text(),
    size: p.bigint('number'),
    mimetype: p.text(),
    filename: p.text(),
    messageId: p.text(),
    /** Hash of the file that it was converted from. */
    madeOf: p.text(),
    created: time(),
    used: time(),
  },
  uniques: [{ name: 'file_of_instance', properties: ['instance', 'hash'] }],
  indexes: [
    { name: 'file_message', expression: `create index "file_message" on "file" ("instance_id", "message_id") where message_id <> ''` },
    { name: 'file_made_of', expression: `create index "file_made_of" on "file" ("instance_id", "made_of") where made_of <> ''` },
    { name: 'file_hash', properties: ['hash'] },
    { name: 'file_used', properties: ['used', 'name'] },
  ],
});

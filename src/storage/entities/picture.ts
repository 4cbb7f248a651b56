/** The table of pictures that the platform was asked about. */
import { defineEntity, p } from '@mikro-orm/core';
import { time } from './instance.ts';

/** `id`: of the chat; `kind`: the whole picture or its preview. */
export const PictureEntity = defineEntity({
  name: 'Picture',
  tableName: 'picture',
  properties: {
    /** Without a foreign key, as messages are. */
    instanceId: p.text().primary(),
    id: p.text().primary(),
    kind: p.text().primary(),
    state: p.text(),
    url: p.text(),
    at: time(),
  },
  indexes: [{ name: 'picture_at', properties: ['at'] }],
});

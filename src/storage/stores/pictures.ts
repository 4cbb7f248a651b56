/** The platform's answers about pictures of people and groups. */
import type { LookedPicture } from '#actors/model.ts';
import type { PictureStore } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { checkOwned, owned, type Owned } from '../ownership.ts';
import { expireRows, expireStatement } from './expiry.ts';

export const pictureStatements = {
  find: {
    name: 'picture-find',
    text: `select id, kind, state, url, at::float8 as at from picture where instance_id = $1 and id = any($2::text[])`,
  },
  /** $1 instance, $2 epoch. */
  save: {
    name: 'picture-save',
    text: `with ${owned},
      saved as (
        insert into picture (instance_id, id, kind, state, url, at) select $1, $3, $4, $5, $6, $7 where exists (select from owned)
        on conflict (instance_id, id, kind) do update set state = excluded.state, url = excluded.url, at = excluded.at)
      select count(*)::int as owned from owned`,
  },
  expire: expireStatement('picture-expire', 'picture'),
} as const satisfies Readonly<Record<string, Statement>>;

export const makePictureStore = (database: Database): PictureStore => ({
  find: (instance, ids) => database.rows<LookedPicture>(pictureStatements.find, [instance, ids]),
  async save({ instanceId, epoch }, { id, kind, state, url, at }) {
    checkOwned(await database.rows<Owned>(pictureStatements.save, [instanceId, epoch, id, kind, state, url, at]));
  },
  expire: expireRows(database, pictureStatements.expire),
});

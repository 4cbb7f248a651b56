/** Reads the identity of the account from its credentials. */
import { isWABusinessPlatform } from '@whiskeysockets/baileys';
import type { Identity } from '#actors/ports.ts';
import { type Directory, mappedJid } from '../wire/directory.ts';
import { bare, userOf } from '../wire/jid.ts';
import type { AuthState } from '../keys/auth-state.ts';
import type { GroupCache } from '../events/group-cache.ts';

interface DirectoryParts {
  readonly auth: AuthState;
  readonly groups: Pick<GroupCache, 'name' | 'community'>;
  newId(): string;
  now(): number;
}

export const directoryOf = ({ auth, groups, newId, now }: DirectoryParts): Directory => {
  const { creds } = auth.state;
  const lookUp = (id: string) => auth.peek('lid-mapping', id);
  return {
    get me() {
      const { me } = creds;
      return { pn: bare(me?.id), lid: bare(me?.lid), name: me?.name && me.name !== '~' ? me.name : '' };
    },
    pn: (lid) => mappedJid(lookUp, lid),
    lid: (pn) => mappedJid(lookUp, pn),
    groupName: (jid) => groups.name(jid),
    community: (id) => groups.community(id),
    newId,
    now,
  };
};

export const identityOf = ({ state: { creds } }: AuthState, directory: Directory): Identity => ({
  jid: creds.me?.id ?? '',
  lid: directory.me.lid,
  owner: userOf(creds.me?.id ?? ''),
  profileName: directory.me.name,
  isBusiness: creds.platform !== undefined && isWABusinessPlatform(creds.platform),
  platform: (creds.platform ?? '').toLowerCase(),
});

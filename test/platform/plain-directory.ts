/** A directory that knows only the account. */
import type { Directory } from '#src/platform/wire/jid.ts';

export const plainDirectory: Directory = {
  me: { pn: '551@s.whatsapp.net', lid: '1@lid', name: 'Me' },
  pn: () => '',
  lid: () => '',
  groupName: () => '',
  community: () => null,
  newId: () => 'r',
  now: () => 9_000,
};

/** Parts of a session that are made of several others. */
import type { WASocket } from '@whiskeysockets/baileys';
import { chatOf, type Directory } from '../wire/directory.ts';
import type { AuthState } from '../keys/auth-state.ts';
import type { GroupKeys } from '../keys/group-keys.ts';
import { OwnPicture } from '../events/own-picture.ts';
import type { SessionOptions } from './session-options.ts';

/** The picture of the session's own account. */
export const ownPictureOf = (
  sock: Pick<WASocket, 'profilePictureUrl'>,
  directory: Directory,
  { host, pictures, small, emit, ...options }: SessionOptions,
  failed: (error: unknown) => void,
): OwnPicture =>
  new OwnPicture({
    sock,
    pace: pictures,
    me: () => directory.me,
    changed: (id) => host.pictureChanged(chatOf(directory, id).id),
    found: (profilePicUrl) => {
      emit({ type: 'platform.identity', patch: { profilePicUrl } });
      void small.learn(host.id, profilePicUrl, options);
    },
    failed,
  });

/** Resolves when all changes of keys so far are stored; false when they never will be. Never rejects. */
export const keysStored = async (groups: Pick<GroupKeys, 'settled'>, auth: Pick<AuthState, 'durable'>): Promise<boolean> => {
  const changed = groups.settled().then(() => auth.durable());
  return (await Promise.allSettled([changed]))[0].status === 'fulfilled';
};

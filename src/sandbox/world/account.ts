/** The account as its phone shows and changes it. */
import { keepPicture, setBlocked, setPicture } from '../account.ts';
import { SandboxError, type AccountFace, type AccountView } from '../face.ts';
import type { Parts } from '../parts.ts';
import type { Person } from '../people.ts';
import { changePrivacy } from '../privacy.ts';
import { knownPerson } from './lookup.ts';

const maxAbout = 500;

export function accountRoom(parts: Parts): AccountFace {
  const { db, people } = parts;
  return {
    account: (number) => view(parts, knownPerson(parts, number)),
    async changeAccount(number, { about, username, privacy = {}, blocked, picture }) {
      const person = people.ensure(number);
      if (about !== undefined && about.length > maxAbout) throw new SandboxError(400, `about: at most ${maxAbout} characters`);
      db.atomically(() => {
        if (about !== undefined) person.about = about;
        if (username === '') delete person.username;
        else if (username !== undefined) person.username = username;
        people.save(person);
        changePrivacy(parts, person, privacy);
        if (blocked)
          setBlocked(
            parts,
            person,
            blocked.map((one) => people.ensure(one).number),
          );
        if (picture !== undefined) setPicture(parts, person, keepPicture(parts, Buffer.from(picture, 'base64')));
      });
      return view(parts, person);
    },
  };
}

function view(
  { links, media, people, presence }: Parts,
  { number, about, privacy, blocked, picture, disappearing = 0 }: Person,
): AccountView {
  const subscriptions = people.devices(number).flatMap((device) => [...(links.of(device)?.subscriptions ?? [])]);
  const shown = picture ? { picture: { id: picture.id, url: media.url(picture.path) } } : {};
  return {
    about,
    privacy: { ...privacy },
    blocked: [...blocked],
    ...shown,
    disappearing,
    online: presence.isOnline(number),
    subscriptions: [...new Set(subscriptions)],
  };
}

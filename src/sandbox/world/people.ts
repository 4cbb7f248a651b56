/** People and their accounts, the pairing of clients with their phones, passkeys, and look-ups of people and chats. */
import { generateRegistrationOptions, verifyRegistrationResponse } from '@simplewebauthn/server';
import { changePrivacy, keepPicture, setBlocked, setPicture } from '../account.ts';
import { type Addressing, isGroupJid, isMissingNumber, isNumber, jidOf, pnJid } from '../address.ts';
import { emitPerson, unlink } from '../device-life.ts';
import { type AccountMethods, type AccountView, type Digits, type PeopleMethods, type PersonView, SandboxError } from '../interface.ts';
import type { PasskeysMethods, PasskeyView, Registration } from '../interface/people.ts';
import type { Target } from '../messages/outbox.ts';
import { node, unixSeconds } from '../nodes.ts';
import type { Parts } from '../parts.ts';
import { makePasskey, type Passkey, rpId, signAssertion, webOrigin } from '../passkey/authenticator.ts';
import type { Person } from '../people.ts';
import { restrict } from '../restrictions.ts';

// Look-ups of people and chats for the files of this folder, with their errors.

const maxName = 100;

/** Returns the person or the group to which `to` refers. `to` is a number, a user's jid or a group's jid. */
export function targetOf({ groups, people }: Parts, to: string, addressing: Addressing): Target {
  if (isGroupJid(to)) return { group: groups.get(to) };
  const found = people.resolve(to.includes('@') ? to : pnJid(to));
  if (!found) throw new SandboxError(400, `to: neither a number nor a group: ${to.slice(0, 60)}`);
  return { person: found.person, addressing };
}

export function placeOf(target: Target): { chat: string; addressing: Addressing; group: boolean } {
  if ('group' in target) return { chat: target.group.jid, addressing: target.group.addressing, group: true };
  return { chat: jidOf(target.person, target.addressing), addressing: target.addressing, group: false };
}

/** Returns the person with this number. Creates the person if necessary, and sets the name if one is given. */
function namedPerson({ people }: Parts, number: Digits, name: string | undefined): Person {
  if (!isNumber(number) || isMissingNumber(number)) throw new SandboxError(400, 'number: 7 to 15 digits, and not of country code 999');
  if (name !== undefined && (name === '' || name.length > maxName)) throw new SandboxError(400, `name: 1 to ${maxName} characters`);
  const person = people.ensure(number);
  if (name !== undefined && name !== person.name) {
    person.name = name;
    people.save(person);
  }
  return person;
}

export function knownPerson({ people }: Parts, number: Digits): Person {
  const person = people.find(number);
  if (!person) throw new SandboxError(404, `nobody has the number ${number.slice(0, 40)}`);
  return person;
}

const viewPerson = ({ people, connections }: Parts, person: Person): PersonView => people.view(person, (key) => connections.state(key));

/** Notifies pages of a changed person, and returns the view of the person. */
function changedPerson(parts: Parts, person: Person): PersonView {
  emitPerson(parts, person.number);
  return viewPerson(parts, person);
}

// People, and the pairing of clients with their phones.

const noHistory = { chats: 0, messages: 0 };

/** Gives the phone new keys, and notifies the linked devices of all other people. The real platform notifies only devices that have a session. */
async function setUpAnew(parts: Parts, person: Person): Promise<void> {
  await parts.phones.renew(person);
  if (parts.faults.take('identityUntold', person.number) !== undefined) return;
  const attrs = { from: jidOf(person, 'lid'), type: 'encrypt', t: unixSeconds(Date.now()) };
  for (const { number } of parts.people.all())
    for (const device of number === person.number ? [] : parts.people.devices(number))
      parts.connections.deliver(device, node('notification', { ...attrs, id: parts.random.id() }, [node('identity')]));
}

export function peopleMethods(parts: Parts): PeopleMethods {
  const { people, pairing } = parts;

  return {
    async scan({ qr, number, name, history = noHistory }) {
      const person = namedPerson(parts, number ?? people.freeNumber(), name);
      await pairing.scan(qr, { person, history });
      return changedPerson(parts, person);
    },
    async enterCode({ code, number, name, history = noHistory }) {
      const person = namedPerson(parts, number, name);
      await pairing.enterCode(code, { person, history });
      return changedPerson(parts, person);
    },
    async logout(number) {
      const person = knownPerson(parts, number);
      for (const device of people.devices(number)) unlink(parts, device);
      changedPerson(parts, person);
    },
    async putPerson({ number, name, readReceipts, reinstalled = false, registeredAnew = false, ...flags }) {
      const person = namedPerson(parts, number, name);
      for (const [flag, value] of Object.entries(flags)) if (value !== undefined) Object.assign(person, { [flag]: value });
      if (readReceipts !== undefined) person.privacy['readreceipts'] = readReceipts ? 'all' : 'none';
      people.save(person);
      if (registeredAnew) people.renewLid(person);
      if (reinstalled || registeredAnew) await setUpAnew(parts, person);
      return changedPerson(parts, person);
    },
    async restrict(number, restrictions) {
      restrict(parts, knownPerson(parts, number), restrictions);
    },
    people: () => people.all().map((person) => viewPerson(parts, person)),
  };
}

// The account as its phone shows and changes it.

const maxAbout = 500;

export function accountMethods(parts: Parts): AccountMethods {
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
  { connections, media, people, presence }: Parts,
  { number, about, privacy, blocked, picture, disappearing = 0 }: Person,
): AccountView {
  const subscriptions = people.devices(number).flatMap((device) => [...(connections.of(device)?.subscriptions ?? [])]);
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

// Passkeys of accounts.

type Response = Parameters<typeof verifyRegistrationResponse>[0]['response'];

/** Returns the passkey of a registration that answers the challenge. Throws if the registration is not valid. */
const verified = async (registration: Registration, expectedChallenge: string): Promise<Passkey> => {
  const response = registration as unknown as Response;
  try {
    const given = { response, expectedChallenge, expectedOrigin: webOrigin, expectedRPID: rpId };
    const { id, publicKey, counter } = (await verifyRegistrationResponse(given)).registrationInfo?.credential ?? {};
    if (id === undefined || publicKey === undefined) throw new Error('not verified');
    return { id, publicKey: Buffer.from(publicKey).toString('base64url'), counter: counter ?? 0 };
  } catch (error) {
    throw new SandboxError(400, `registration: ${error instanceof Error ? error.message : String(error)}`);
  }
};

/** The challenges of the passkey registrations that have begun. */
class Registrations {
  readonly #challenges = new Map<Digits, string>();

  /** Returns the options with a new challenge. */
  async begin(number: Digits): ReturnType<PasskeysMethods['passkeyOptions']> {
    const options = await generateRegistrationOptions({ rpName: 'Simulated platform', rpID: rpId, userName: number });
    this.#challenges.set(number, options.challenge);
    return { ...options };
  }

  /** Returns the passkey of a registration. Throws if the registration is not valid, or if no registration has begun. */
  async finish(number: Digits, registration: Registration): Promise<Passkey> {
    const challenge = this.#challenges.get(number);
    if (challenge === undefined) throw new SandboxError(409, 'ask for the options of a registration first');
    return verified(registration, challenge);
  }

  forget(number: Digits): void {
    this.#challenges.delete(number);
  }
}

export function passkeysMethods(parts: Parts): PasskeysMethods {
  const { people, pairing } = parts;
  const registrations = new Registrations();

  const passkeyOf = (number: Digits): { readonly person: Person; readonly passkey: Passkey } => {
    const person = knownPerson(parts, number);
    if (!person.passkey) throw new SandboxError(404, 'the account has no passkey');
    return { person, passkey: person.passkey };
  };

  const view = (number: Digits): PasskeyView => {
    const { passkey } = passkeyOf(number);
    const { stage = null, code = null, handedOff = false } = pairing.ceremonyOf(number) ?? {};
    return { id: passkey.id, stage, code: code ?? '', handedOff };
  };

  return {
    async passkeyOptions(number) {
      namedPerson(parts, number, undefined);
      return registrations.begin(number);
    },
    async givePasskey(number, { registration, fault }) {
      const person = namedPerson(parts, number, undefined);
      person.passkey = registration === undefined ? makePasskey() : await registrations.finish(number, registration);
      registrations.forget(number);
      if (fault === undefined) delete person.passkeyFault;
      else person.passkeyFault = fault;
      people.save(person);
      return view(number);
    },
    passkey: view,
    async takePasskey(number) {
      const { person } = passkeyOf(number);
      delete person.passkey;
      delete person.passkeyFault;
      people.save(person);
    },
    async signWithPasskey(number, options, origin = webOrigin) {
      const { person, passkey } = passkeyOf(number);
      const { privateKey } = passkey;
      if (privateKey === undefined) throw new SandboxError(409, 'the private key of this passkey is in its authenticator');
      const assertion = signAssertion(passkey, privateKey, options, origin);
      people.save(person);
      return assertion;
    },
  };
}

/** Look-ups of people and chats for the rooms of the world, with their errors. */
import { isGroupJid, isMissingNumber, isNumber, jidOf, pnJid, type Addressing } from '../address.ts';
import { emitPerson } from '../device-life.ts';
import { SandboxError, type Digits, type PersonView } from '../face.ts';
import type { Target } from '../messages/outbox.ts';
import type { Parts } from '../parts.ts';
import type { Person } from '../people.ts';

const maxName = 100;

/** `to`: digits, a user's jid or a group's jid. */
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

/** The person with this number, made when there is none, under the given name. */
export function namedPerson({ people }: Parts, number: Digits, name: string | undefined): Person {
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

export const viewPerson = ({ people, links }: Parts, person: Person): PersonView => people.view(person, (key) => links.state(key));

/** Tells pages of a changed person, and returns its view. */
export function changedPerson(parts: Parts, person: Person): PersonView {
  emitPerson(parts, person.number);
  return viewPerson(parts, person);
}

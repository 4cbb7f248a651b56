/** People, and the pairing of clients with their phones. */
import { unlink } from '../device-life.ts';
import type { Digits, PeopleFace } from '../face.ts';
import { restrict } from '../restrictions.ts';
import type { Parts } from '../parts.ts';
import { jidOf } from '../address.ts';
import { node, unixSeconds } from '../nodes.ts';
import type { Person } from '../people.ts';
import { changedPerson, knownPerson, namedPerson, viewPerson } from './lookup.ts';

const noHistory = { chats: 0, messages: 0 };

/** The phone has other keys: everybody's linked devices are told. The real platform tells those that have a session. */
async function setUpAnew(parts: Parts, person: Person): Promise<void> {
  await parts.phones.renew(person);
  if (parts.faults.take('identityUntold', person.number) !== undefined) return;
  const attrs = { from: jidOf(person, 'lid'), type: 'encrypt', t: unixSeconds(Date.now()) };
  for (const { number } of parts.people.all())
    for (const device of number === person.number ? [] : parts.people.devices(number))
      parts.links.deliver(device, node('notification', { ...attrs, id: parts.random.id() }, [node('identity')]));
}

export function peopleRoom(parts: Parts): PeopleFace {
  const { people, pairing } = parts;
  let nextNumber = 0;

  /** Picks an unused number from a range that is reserved for fiction. */
  const freeNumber = (): Digits => {
    for (;;) {
      const number = `1555020${String(1000 + nextNumber++)}`;
      if (!people.find(number)) return number;
    }
  };

  return {
    async scan({ qr, number, name, history = noHistory }) {
      const person = namedPerson(parts, number ?? freeNumber(), name);
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
    async putPerson({ number, name, readReceipts, reinstalled = false, ...flags }) {
      const person = namedPerson(parts, number, name);
      for (const [flag, value] of Object.entries(flags)) if (value !== undefined) Object.assign(person, { [flag]: value });
      if (readReceipts !== undefined) person.privacy['readreceipts'] = readReceipts ? 'all' : 'none';
      people.save(person);
      if (reinstalled) await setUpAnew(parts, person);
      return changedPerson(parts, person);
    },
    async restrict(number, restrictions) {
      restrict(parts, knownPerson(parts, number), restrictions);
    },
    people: () => people.all().map((person) => viewPerson(parts, person)),
  };
}

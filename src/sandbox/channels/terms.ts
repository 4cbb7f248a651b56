/** Terms of channels: the app has an account accept a notice before it does something with channels for the first time. */
import { SandboxError } from '../face.ts';
import type { Parts } from '../parts.ts';
import type { Person } from '../people.ts';

/** The notice that has to be accepted before. */
const notices = { create: ['20601217', '20601218'], follow: ['20601216'], admin: ['20610101', '20601218'] } as const;

/** The stage of a notice that says "accepted". */
const accepted = '5';

export function requireNotice(person: Person, of: keyof typeof notices): void {
  if (!notices[of].some((id) => person.notices?.includes(id))) throw new SandboxError(403, 'terms not accepted');
}

export function acceptNotice({ people }: Pick<Parts, 'people'>, person: Person, id: string, stage: string): void {
  const known = Object.values(notices).some((ids) => (ids as readonly string[]).includes(id));
  if (!known || stage !== accepted) throw new SandboxError(400, 'bad-request');
  person.notices = [...new Set([...(person.notices ?? []), id])];
  people.save(person);
}

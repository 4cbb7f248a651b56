/** Calls between people. */
import { stepCall } from '../calls.ts';
import type { CallsFace } from '../face.ts';
import type { Parts } from '../parts.ts';

export function callsRoom(parts: Parts): CallsFace {
  const { db, people } = parts;
  return {
    async call(from, to, step) {
      const [caller, called] = [people.ensure(from), people.ensure(to)];
      return { id: db.atomically(() => stepCall(parts, caller, called, step)) };
    },
    callLog: () => parts.calls.all(),
  };
}

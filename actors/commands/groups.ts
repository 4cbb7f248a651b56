/** Commands on groups that take more than one request: the stored list, and pictures. */
import type { Gateway } from '../views.ts';
import { done, unknownInstance } from '../model.ts';
import type { Cell } from '../session/cell.ts';
import type { Supervisor } from '../supervisor.ts';
import { perform } from './perform.ts';
import { portraitOf } from './portrait.ts';

type GroupCommands = Pick<Gateway, 'listGroups' | 'setGroupPicture'>;

export function groupCommands(supervisor: Supervisor): GroupCommands {
  const { ports, policy } = supervisor;
  /** The time of the last forced request to the platform. In Unix milliseconds. */
  const forced = new WeakMap<Cell, number>();
  const mayForce = (cell: Cell): boolean => ports.time.monotonic() - (forced.get(cell) ?? -Infinity) >= policy.groups.forceEvery;
  return {
    async listGroups(id, { force, ...query }) {
      const cell = supervisor.cell(id);
      if (!cell) return unknownInstance;
      const isForced = force && mayForce(cell);
      if (isForced) forced.set(cell, ports.time.monotonic());
      if (isForced || (await ports.groups.listedAt(id)) === null) {
        const listed = await perform(supervisor, id, 'group.refresh', null);
        if (!listed.ok) return listed;
      }
      return done(await ports.groups.find(id, query));
    },
    async setGroupPicture(id, groupId, source) {
      const picture = await portraitOf(ports, source);
      return picture.ok ? perform(supervisor, id, 'group.picture', { groupId, jpeg: picture.value }) : picture;
    },
  };
}

/** Pictures of groups, people and products: taken from where a client has them, and made the JPEGs that the platform takes. Nothing of them is kept. */
import { readFile } from 'node:fs/promises';
import { done } from '#actors/model.ts';
import type { Portraits } from '#actors/ports.ts';
import type { Intake } from './intake.ts';
import type { MediaWorkshop } from './prepared.ts';

export interface PortraitParts {
  readonly intake: Pick<Intake, 'take'>;
  readonly workshop: Pick<MediaWorkshop, 'portrait'>;
}

export const createPortraits = ({ intake, workshop }: PortraitParts): Portraits => ({
  async take(source, as) {
    const taken = await intake.take(source);
    if (!taken.ok) return taken;
    try {
      const made = await workshop.portrait(taken.value, as);
      if (!made.ok) return made;
      try {
        return done(new Uint8Array(await readFile(made.value.path)));
      } finally {
        await made.value.discard();
      }
    } finally {
      await taken.value.discard();
    }
  },
});

/** The kind of platform with which the sessions of a database are linked. Credentials of one kind are void at the other, which would end the sessions. */
import type { Settings } from '#config/load.ts';
import { otherPlatformError, type PlatformKind } from '../start-errors.ts';
import type { Storage } from '../storage/open.ts';
import { trustAddress } from '../platform/wire/trust.ts';

/** The row of the table `setting`. Releases without the row ignore it. */
const kindSetting = 'platform.kind';

const kindOf = ({ platformUrl }: Settings): PlatformKind =>
  platformUrl === null || trustAddress(platformUrl) === null ? 'real' : 'simulated';

/**
 * Stores the kind of PLATFORM_URL, unless sessions are linked with the other kind. In that case rejects with a text for the operator. Call this before the
 * first connection to the platform. A database without linked sessions takes the kind of each start, so the row is there before the first session is
 * linked. A database without the row, of an earlier release, takes the kind of this start.
 */
export const checkPlatformKind = async (settings: Settings, storage: Pick<Storage, 'settings' | 'hasLinked'>): Promise<void> => {
  const kind = kindOf(settings);
  const stored = await storage.settings.get(kindSetting);
  if (stored === kind) return;
  if ((stored === 'real' || stored === 'simulated') && (await storage.hasLinked())) throw otherPlatformError(stored, settings);
  await storage.settings.set(kindSetting, kind);
};

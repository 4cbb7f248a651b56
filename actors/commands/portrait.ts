/** Pictures of people and groups on their way to the platform. */
import { done, type Result } from '../model.ts';
import type { Ports } from '../ports.ts';

/** Returns the JPEG for the platform; null for '', which removes a picture. */
export const portraitOf = ({ portraits }: Pick<Ports, 'portraits'>, source: string): Promise<Result<Uint8Array | null>> =>
  source === '' ? Promise.resolve(done(null)) : portraits.take(source, 'portrait');

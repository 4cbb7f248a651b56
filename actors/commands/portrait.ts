/** Pictures of people and groups on their way to the platform. */
import { done, type Result } from '../model.ts';
import type { Ports } from '../ports.ts';

/** The JPEG that the platform takes; null for '', which takes a picture away. */
export const portraitOf = ({ portraits }: Pick<Ports, 'portraits'>, source: string): Promise<Result<Uint8Array | null>> =>
  source === '' ? Promise.resolve(done(null)) : portraits.take(source, 'portrait');

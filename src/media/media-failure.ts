/** A refusal on its way through streams, which can only fail by throwing. `resultOf` makes a value of it at the border. */
import { done, type Reason, type Refusal, refuse, type Result } from '#actors/model.ts';

export class MediaFailure extends Error {
  override readonly name = 'MediaFailure';
  readonly refusal: Refusal;

  constructor(reason: Reason, message: string, more: Partial<Refusal> = {}) {
    super(message);
    this.refusal = { ...more, reason, message };
  }
}

/** The work's value, or the refusal that it threw; other errors are surprises and go on. */
export const resultOf = async <T>(work: Promise<T>): Promise<Result<T>> => {
  try {
    return done(await work);
  } catch (error) {
    if (!(error instanceof MediaFailure)) throw error;
    const { reason, message, ...more } = error.refusal;
    return refuse(reason, message, more);
  }
};

const units = ['bytes', 'KiB', 'MiB', 'GiB'] as const;

/** `64 MiB`; with one digit after the point where that says more. */
export const sizeText = (bytes: number): string => {
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  return `${Math.round((bytes / 1024 ** power) * 10) / 10} ${units[power]}`;
};

export const tooManyBytes = (limit: number): MediaFailure =>
  new MediaFailure('tooLarge', `the file is larger than the ${sizeText(limit)} that are allowed`);

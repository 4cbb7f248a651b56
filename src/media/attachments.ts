/**
 * Prepares files for messages: receives them, converts them for their kind, and stores them. After a failure, no temporary file is left on the disk.
 */
import { readFile } from 'node:fs/promises';
import { type Attachment, done, type GivenFile, refuse, type Result, unknownInstance } from '#actors/model.ts';
import type { Attachments, FileStore, Portraits, TakenFile } from '#actors/ports.ts';
import { hashFile } from '#src/files/blobs.ts';
import type { Intake } from './intake.ts';
import type { MediaWorkshop, PreparedMedia } from './prepared.ts';
import { plainName } from './sources.ts';

interface AttachmentParts {
  readonly intake: Pick<Intake, 'take'>;
  readonly workshop: Pick<MediaWorkshop, 'prepare'>;
  readonly files: Pick<FileStore, 'keep'>;
}

/** The size limit of a thumbnail from a client. The preparation limits the sides of the picture. In bytes. */
const thumbnailBytes = 1_048_576;

/** Returns the file to store: the received file if it needed no change, and otherwise the prepared file. */
const toKeep = async (taken: TakenFile, prepared: PreparedMedia): Promise<TakenFile> => {
  if (prepared.path === taken.path) return taken;
  const { path, size, mimetype } = prepared;
  return { path, size, mimetype, hash: await hashFile(path), filename: taken.filename, discard: () => prepared.discard() };
};

const base64 = (bytes: Uint8Array | null): string | null => bytes && Buffer.from(bytes).toString('base64');

const takePicture = async (intake: AttachmentParts['intake'], instance: string, source: string): Promise<Result<TakenFile | null>> => {
  if (source === '') return done(null);
  const taken = await intake.take(source, { instance });
  if (!taken.ok) return refuse(taken.refusal.reason, `thumbnail: ${taken.refusal.message}`, taken.refusal);
  if (taken.value.size <= thumbnailBytes) return taken;
  await taken.value.discard();
  return refuse('tooLarge', 'thumbnail: the picture is larger than 1 MiB');
};

export const createAttachments = ({ intake, workshop, files }: AttachmentParts): Attachments => {
  const keep = async (instance: string, given: GivenFile, taken: TakenFile, prepared: PreparedMedia): Promise<Result<Attachment>> => {
    const file = await toKeep(taken, prepared);
    const made = file === taken ? {} : { madeOf: taken.hash };
    const filename = plainName(given.filename);
    const kept = await files.keep(instance, file, { ...made, mimetype: prepared.mimetype, filename });
    if (kept === null) return unknownInstance;
    const { name, url, hash, size } = kept;
    // The type and the name come from this request. The stored file may have another type and name, from an earlier send of the same bytes.
    const { width, height, seconds, isAnimated, mimetype } = prepared;
    const facts = { width, height, seconds, isAnimated, thumbnail: base64(prepared.thumbnail), waveform: base64(prepared.waveform) };
    return done({ name, url, hash, size, mimetype, filename: filename || taken.filename, ...facts });
  };

  const prepare = async (
    instance: string,
    given: GivenFile,
    taken: TakenFile,
    thumbnail: TakenFile | null,
  ): Promise<Result<Attachment>> => {
    const wishes = { instance, thumbnail: thumbnail?.path, mimetype: given.mimetype || undefined };
    // `myaudio` is another name of the voice message. The file is converted to the format of voice messages if the machine can do it, and is otherwise prepared
    // like an `audio`.
    const voice = given.as === 'myaudio' ? await workshop.prepare(taken, 'ptt', wishes) : null;
    const prepared = voice?.ok ? voice : await workshop.prepare(taken, given.as, wishes);
    if (!prepared.ok) return prepared;
    try {
      return await keep(instance, given, taken, prepared.value);
    } finally {
      await prepared.value.discard();
    }
  };

  return {
    async take(instance, given) {
      const thumbnail = await takePicture(intake, instance, given.thumbnail);
      if (!thumbnail.ok) return thumbnail;
      try {
        const taken = await intake.take(given.source, { instance });
        if (!taken.ok) return taken;
        try {
          return await prepare(instance, given, taken.value, thumbnail.value);
        } finally {
          await taken.value.discard();
        }
      } finally {
        await thumbnail.value?.discard();
      }
    },
  };
};

// Pictures of groups, people and products. They come from clients, are converted to the JPEGs that the platform accepts, and are not
// stored.

interface PortraitParts {
  readonly intake: Pick<Intake, 'take'>;
  readonly workshop: Pick<MediaWorkshop, 'portrait'>;
}

export const createPortraits = ({ intake, workshop }: PortraitParts): Portraits => ({
  async take(instance, source, as) {
    const taken = await intake.take(source, { instance });
    if (!taken.ok) return taken;
    try {
      const made = await workshop.portrait(taken.value, as, { instance });
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

/** Composes the parts that handle files: the pool of threads, the intake, the workshop, and the folder between them. */
import { join } from 'node:path';
import type { Log } from '#actors/ports.ts';
import type { Settings } from '#config/load.ts';
import { findProgram } from '#config/programs.ts';
import { openTemporaryFolder } from '#src/files/temporary-folder.ts';
import { createIntake } from '#src/media/intake.ts';
import { endLeftoverChildren } from '#src/media/ffmpeg.ts';
import { createLinkPreviews } from '#src/media/link-preview.ts';
import { createMedia } from '#src/media/media.ts';
import { createWorkshop } from '#src/media/prepare.ts';
import { createSealing } from '#src/media/sealing.ts';
import type { AddressGuard } from '#src/webhooks/address-guard.ts';

interface Given {
  readonly settings: Settings;
  readonly dataDir: string;
  readonly guard: AddressGuard;
  readonly userAgent: string;
  readonly log: Log;
  /** Called for each opened part with its way to close; the last one is to be closed first. */
  readonly onOpen: (name: string, close: () => Promise<void>) => void;
}

/** To be opened when no other process uses the data folder any more: the temporary folder in it is emptied. */
export async function openMediaParts({ settings, dataDir, guard, userAgent, log, onOpen }: Given) {
  // Threads beside those that convert: one that encrypts, and one more, so that no QR code waits for a file.
  const media = createMedia({ threads: settings.mediaJobs + 2 });
  onOpen('media', () => media.close());
  const temporary = join(dataDir, 'temporary');
  const leftovers = await endLeftoverChildren(temporary);
  if (leftovers > 0) log.warn({ programs: leftovers }, 'media.leftoversEnded');
  const folder = await openTemporaryFolder(temporary);
  onOpen('temporary', () => folder.empty());
  const intake = createIntake({
    guard,
    userAgent,
    folder,
    maxBytes: settings.mediaMaxBytes,
    timeoutMs: settings.mediaFetchMs,
    silenceMs: settings.mediaSilenceMs,
  });
  onOpen('intake', () => intake.close());
  const ffmpeg = findProgram(settings.ffmpegPath);
  log.debug({ isThere: ffmpeg !== null }, 'media.ffmpeg');
  const workshop = createWorkshop({
    media,
    folder,
    ffmpeg,
    jobs: settings.mediaJobs,
    timeoutMs: settings.mediaConvertMs,
    pictureMs: Math.min(settings.mediaConvertMs, 30_000),
    maxBytes: settings.mediaMaxBytes,
    maxPixels: settings.mediaMaxPixels,
    maxSide: settings.mediaMaxSide,
  });
  onOpen('workshop', () => workshop.close());
  const sealing = createSealing(media, folder, 1);
  const previews = createLinkPreviews({ guard, media, userAgent });
  onOpen('previews', () => previews.close());
  return { media, folder, intake, workshop, sealing, previews };
}

/** The sources that can be imported, with one reader for each store. */
import { archiveReader } from './archived.ts';
import { evolutionReader } from './readers/evolution.ts';
import { fazerReader } from './readers/fazer.ts';
import { folderReader } from './readers/folder.ts';
import { wahaReader } from './readers/waha.ts';
import type { Reader } from './session.ts';
import { gowsReader } from './whatsmeow/gows.ts';
import { multideviceReader } from './whatsmeow/multidevice.ts';
import { whatsmeowReader } from './whatsmeow/found.ts';
import { wuzapiReader } from './whatsmeow/wuzapi.ts';

export const readers: Readonly<Record<string, Reader>> = {
  folder: folderReader,
  evolution: evolutionReader,
  waha: wahaReader,
  'waha-gows': gowsReader,
  wuzapi: wuzapiReader,
  multidevice: multideviceReader,
  whatsmeow: whatsmeowReader,
  'fazer-ai': fazerReader,
  dormouse: archiveReader,
};

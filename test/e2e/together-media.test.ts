/** Runs the tests of media, pictures and status posts. The files of the folder share a gateway. */
import { Scene } from '#test/support/scene.ts';
import { runTogether } from '#test/support/together.ts';

Scene.keep({
  MEDIA_MAX_BYTES: '1000000',
  MEDIA_SILENCE_MS: '4000',
  PICTURE_EVERY_MS: '50',
  SEND_TIMEOUT_MS: '10000',
  STATUS_RECIPIENTS: '2',
});
runTogether('test/e2e/together/media');

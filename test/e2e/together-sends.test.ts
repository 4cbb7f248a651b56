/** Runs the tests of sends of every kind, of channel posts, and of changes to chats. The files of the folder share a gateway. */
import { Scene } from '#test/support/scene.ts';
import { runTogether } from '#test/support/together.ts';

Scene.keep();
runTogether('test/e2e/together/sends');

/** Runs the tests of kinds of messages and posts, and of changes of chats. The files of the folder share a gateway. */
import { Scene } from '#test/support/scene.ts';
import { runTogether } from '#test/support/together.ts';

Scene.keep();
runTogether('test/e2e/together/sends');

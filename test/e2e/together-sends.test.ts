/** Kinds of messages and posts, and what becomes of a chat: the files of one folder share a gateway. */
import { Scene } from '#test/support/scene.ts';
import { runTogether } from '#test/support/together.ts';

Scene.keep();
runTogether('test/e2e/together/sends');

/** Runs the tests of linking, on a simulated platform that checks each stanza. The files of the folder share a gateway. */
import { Scene } from '#test/support/scene.ts';
import { runTogether } from '#test/support/together.ts';

Scene.keep();
runTogether('test/e2e/together/linking');

/** Runs the tests of people, businesses and settings of accounts. The files of the folder share a gateway. */
import { Scene } from '#test/support/scene.ts';
import { runTogether } from '#test/support/together.ts';

Scene.keep();
runTogether('test/e2e/together/people');

/** Runs the tests that kill gateways with the default settings. Each file of the folder leaves the gateway running for the next one. */
import { Scene } from '#test/support/scene.ts';
import { runTogether } from '#test/support/together.ts';

Scene.keep();
runTogether('test/e2e/together/kills');

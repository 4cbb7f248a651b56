/** Runs the tests of the page of a session in a real browser. The files of the folder share a gateway. */
import { Dashboard } from '#test/support/dashboard.ts';
import { Scene } from '#test/support/scene.ts';
import { runTogether } from '#test/support/together.ts';

Scene.keep();
Dashboard.keep();
runTogether('test/e2e/together/dashboard');

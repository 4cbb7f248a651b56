/** Runs the tests of dashboards of gateways with settings, counts or users of their own. The files of the folder share a process and a browser. */
import { Dashboard } from '#test/support/dashboard.ts';
import { runTogether } from '#test/support/together.ts';

Dashboard.keep();
runTogether('test/e2e/together/dashboard-own');

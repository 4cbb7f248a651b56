/** The dashboard from an empty server on, and the page of one session: the files of one folder share a process and a browser. */
import { Dashboard } from '#test/support/dashboard.ts';
import { runTogether } from '#test/support/together.ts';

Dashboard.keep();
runTogether('test/e2e/together/dashboard-session');

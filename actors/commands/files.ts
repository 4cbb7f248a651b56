/** Commands on files of messages, and on files by their public names. */
import type { Gateway } from '../views.ts';
import { unknownInstance } from '../model.ts';
import type { Supervisor } from '../supervisor.ts';

type FileCommands = Pick<Gateway, 'download' | 'file' | 'readFile'>;

export function fileCommands(supervisor: Supervisor): FileCommands {
  const { cluster, ports } = supervisor;
  const files = cluster === null || cluster.sharesFiles ? ports.files : cluster.files;
  return {
    download: async (id, wish) => (supervisor.view(id) === null ? unknownInstance : supervisor.downloads.download(id, wish)),
    file: (name) => files.named(name),
    readFile: (file, range) => files.read(file, range),
  };
}
